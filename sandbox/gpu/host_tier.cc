#include "sandbox/gpu/host_tier.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <future>
#include <iterator>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "sandbox/gpu/candidate_memory.h"
#include "sandbox/job/verdict_builder.h"
#include "sandbox/judging/judging.h"
#include "sandbox/record/candidate_run.h"
#include "sandbox/record/case_io.h"

namespace assay::sandbox {
namespace {

/// The time limit of a run whose launches do nothing: so many times the time of the run before it,
/// but at least kIdleMs. Such a run does less work, so only a submission that waits for a result of
/// its kernels takes longer, and it would wait for ever.
constexpr std::int64_t kIdleFactor = 4, kIdleMs = 5'000;

/// The judge's results. There is one for each case, up to the first case in which the communication
/// between judge and candidate failed.
struct Observed {
  std::vector<HostJudged> cases;
  std::optional<Error> error;  // set if the judge itself failed
};

/// The cases that the candidate receives in one request.
struct HostBatch {
  std::vector<std::size_t> cases;  // indices into the prepared cases
  bool last = true;
};

/// Returns a batch of the public cases, then a batch of the hidden cases. Leaves out an empty
/// batch.
std::vector<HostBatch> host_batches(const Job& job) {
  HostBatch open, hidden;
  for (std::size_t i = 0; i < job.cases.size(); ++i)
    (job.cases[i].hidden ? hidden : open).cases.push_back(i);
  if (hidden.cases.empty()) return {std::move(open)};
  if (open.cases.empty()) return {std::move(hidden)};
  open.last = false;
  return {std::move(open), std::move(hidden)};
}

/// Returns the cases of the batch to which a case belongs.
std::vector<std::size_t> batch_of(const Job& job, std::size_t index) {
  for (HostBatch& batch : host_batches(job)) {
    if (std::find(batch.cases.begin(), batch.cases.end(), index) != batch.cases.end())
      return std::move(batch.cases);
  }
  return {};
}

/// Makes the judge run the cases of the batch one after the other. `line` is the judge's end of its
/// socket to the candidate.
Observed observe(JobExecution& run, Judge& judge, const PreparedJob& prepared,
                 const HostTier::Conversation& how, const HostBatch& batch, int line) {
  Observed observed;
  const Limits& limits = run.job().limits;
  for (const std::size_t i : batch.cases) {
    Result<HostJudged> judged =
        judge.host_case({run.job().id, prepared.cases[i].id},
                        {.line = line,
                         .time = i < how.timed.size() && how.timed[i],
                         .attribute = how.ablated,
                         .free_buffers = !prepared.device,
                         .gpu_memory_bytes = allowed_bytes(limits, how.ablated)},
                        limits, run.deadline(limits.judge_wall_ms));
    if (!judged) {
      observed.error = judged.error();
      break;
    }
    observed.cases.push_back(std::move(*judged));
    if (observed.cases.back().broken != HostJudged::Broken::no) break;
  }
  // A candidate that is waiting for another round notices this shutdown of the socket.
  if (batch.last || observed.cases.size() < batch.cases.size() ||
      observed.cases.back().broken != HostJudged::Broken::no)
    ::shutdown(line, SHUT_RDWR);
  return observed;
}

bool are_right(const std::vector<HostJudged>& cases) {
  return std::all_of(cases.begin(), cases.end(), [](const HostJudged& one) {
    return one.compared.kind == ErrorKind::none && one.unattributed.empty();
  });
}

ErrorKind kind_of(HostJudged::Broken broken) {
  switch (broken) {
    case HostJudged::Broken::late: return ErrorKind::timeout;
    case HostJudged::Broken::memory: return ErrorKind::gpu_memory_limit;
    default: return ErrorKind::protocol_error;
  }
}

/// Returns false if the judge ended the communication with the candidate. Then the verdict gets the
/// judge's error, because the candidate's error is only a consequence.
bool ended_by_itself(JobExecution& run, const Observed& observed) {
  if (observed.error) {
    run.clear_error();
    return run.fail_by_judge(*observed.error, "judging on the host tier");
  }
  if (observed.cases.empty() || observed.cases.back().broken == HostJudged::Broken::ended)
    return true;
  const HostJudged& last = observed.cases.back();
  if (last.broken == HostJudged::Broken::no) return true;
  run.clear_error();
  return run.fail(kind_of(last.broken), last.message);
}

/// Adds a record for each judged case. The hidden cases are not judged if a public case is wrong.
void add_cases(JobExecution& run, const PreparedJob& prepared, std::vector<HostJudged> cases) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CaseRecord record = std::move(cases[i].compared.record);
    record.id = prepared.cases[i].id;
    record.hidden = run.job().cases[i].hidden;
    record.cost_bytes = prepared.cases[i].cost_bytes;
    record.cost_flops = prepared.cases[i].cost_flops;
    record.latency = std::move(cases[i].timing);
    run.verdict().provenance.seeds[record.id] = cases[i].seed;
    add_record(run.verdict(), std::move(record), cases[i].compared.kind);
  }
}

/// Changes the record of a right case to what the judge has found about the origin of its outputs.
void add_origin(Verdict& verdict, CaseRecord& record, const HostJudged& seen) {
  if (seen.compared.kind == ErrorKind::none) {
    if (!seen.unattributed.empty()) not_its_work(verdict, record, seen.unattributed);
    return;
  }
  record.outcome = Outcome::fail;
  record.reason =
      "right at first, wrong when it ran once more to find the origin of its outputs: " +
      seen.compared.record.reason;
  verdict.outcome = Outcome::fail;
  verdict.error_kind = seen.compared.kind;
}

SandboxConfig with_gpu(SandboxConfig config, GpuAccess gpu) {
  config.gpu = std::move(gpu);
  config.parked_candidates = 1;
  return config;
}

}  // namespace

HostTier::HostTier(const SandboxConfig& config, Spawner& spawner, GpuAccess gpu)
    : config_(with_gpu(config, std::move(gpu))), pool_(config_, spawner) {}

bool HostTier::converse(JobExecution& run, Judge& judge, const PreparedJob& prepared,
                        const Conversation& how, std::vector<HostJudged>& judged) {
  std::optional<std::int64_t> others_bytes;
  const bool complete = converse_once(run, judge, prepared, how, judged, others_bytes);
  if (!complete && run.verdict().error_kind == ErrorKind::gpu_memory_limit)
    excuse_for_memory(run, judge, others_bytes, allowed_bytes(run.job().limits, how.ablated));
  return complete;
}

bool HostTier::converse_once(JobExecution& run, Judge& judge, const PreparedJob& prepared,
                             const Conversation& how, std::vector<HostJudged>& judged,
                             std::optional<std::int64_t>& others_bytes) {
  Result<SocketPair> line = make_socket_pair();
  if (!line)
    return run.fail_infrastructure(line.error(), "making the judge's line to the candidate");
  CandidateJob request;
  request.mode = CandidateMode::host;
  request.entry = run.job().entry;
  request.adapter = run.job().adapter;
  request.dialect = run.job().dialect;
  request.host = HostAccess{config_.gpu->devices.empty() ? "cpu" : "cuda", how.ablated, how.idle, 0,
                            allowed_bytes(run.job().limits, how.ablated)};
  // After the request is sent, only the candidate has its end of the socket. So the judge notices
  // the candidate's death.
  const auto sent = [&] { line->theirs.reset(); };
  CandidateRun candidate(
      run, pool_.get(),
      {.request = request, .source = run.job().source, .fds = {line->theirs.get()}, .sent = sent});
  if (!candidate.start()) return false;
  for (const HostBatch& batch : host_batches(run.job())) {
    if (!how.idle && !are_right(judged)) break;
    std::future<Observed> observing = std::async(std::launch::async, [&] {
      return observe(run, judge, prepared, how, batch, line->ours.get());
    });
    const bool performed =
        candidate.perform(host_inputs(prepared, batch.cases), batch.last).has_value();
    Observed observed = observing.get();
    run.enter(Stage::judge);
    if (!observed.cases.empty() && observed.cases.back().broken == HostJudged::Broken::memory)
      others_bytes = observed.cases.back().others_bytes;
    if (!ended_by_itself(run, observed) || !performed) return false;
    if (observed.cases.size() != batch.cases.size() ||
        observed.cases.back().broken != HostJudged::Broken::no)
      return run.fail(ErrorKind::protocol_error,
                      "the candidate reported its end before the judge had seen all cases");
    std::move(observed.cases.begin(), observed.cases.end(), std::back_inserter(judged));
  }
  return true;
}

bool HostTier::run(JobExecution& run, Judge& judge, const PreparedJob& prepared,
                   const std::vector<bool>& timed) {
  std::vector<HostJudged> seen;
  if (!converse(run, judge, prepared, {.timed = timed}, seen)) return false;
  add_cases(run, prepared, std::move(seen));
  return !all_right(run.verdict()) || attribute(run, judge, prepared);
}

bool HostTier::attribute(JobExecution& run, Judge& judge, const PreparedJob& prepared) {
  JobExecution auxiliary = run.auxiliary();
  std::vector<HostJudged> seen;
  const std::int64_t begin_ns = system_clock().monotonic_ns();
  const bool complete = converse(auxiliary, judge, prepared, {.ablated = true}, seen);
  const std::int64_t took_ms = (system_clock().monotonic_ns() - begin_ns) / kNsPerMs;
  Verdict& verdict = run.verdict();
  for (std::size_t i = 0; i < seen.size(); ++i) add_origin(verdict, verdict.cases[i], seen[i]);
  if (!all_right(verdict)) return true;
  if (complete) return idle(run, judge, prepared, std::max(kIdleMs, kIdleFactor * took_ms));
  return ended_without_kernels(run, batch_of(run.job(), seen.size()), auxiliary.finish());
}

bool HostTier::idle(JobExecution& run, Judge& judge, const PreparedJob& prepared,
                    std::int64_t wall_ms) {
  Job shorter = run.job();
  shorter.limits.run_wall_ms = std::min(shorter.limits.run_wall_ms, wall_ms);
  JobExecution auxiliary = run.auxiliary(shorter);
  std::vector<HostJudged> seen;
  const bool complete = converse(auxiliary, judge, prepared, {.idle = true}, seen);
  Verdict& verdict = run.verdict();
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].compared.kind == ErrorKind::none && !seen[i].needs_no_kernel)
      not_its_work(
          verdict, verdict.cases[i],
          "run once more with kernel launches that do nothing, its outputs were right as well");
  }
  if (complete || !all_right(verdict)) return true;
  const Verdict ended = auxiliary.finish();
  return !is_inconclusive(ended.error_kind) || run.fail(ended.error_kind, Stage::run, ended.detail);
}

}  // namespace assay::sandbox
