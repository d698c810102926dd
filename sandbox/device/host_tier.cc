#include "sandbox/device/host_tier.h"

#include <sys/socket.h>

#include <future>
#include <utility>
#include <vector>

#include "sandbox/device/assemble.h"
#include "sandbox/device/candidate_run.h"
#include "sandbox/device/case_io.h"

namespace assay::sandbox {
namespace {

/// What the judge saw of all cases, until one was wrong or the conversation broke.
struct Observed {
  std::vector<HostJudged> cases;
  std::optional<Error> error;  // of the judge itself
};

/// Case after case, while the candidate works through them on the other end of `line`.
Observed observe(JobRun& run, Judge& judge, const PreparedJob& prepared, bool timed, UniqueFd line) {
  Observed observed;
  const Limits& limits = run.job().limits;
  for (const PreparedCase& one : prepared.cases) {
    Result<HostJudged> judged =
        judge.host_case(run.job().id, one.id, line.get(), timed, limits.import_wall_ms + limits.run_wall_ms, run.deadline(limits.judge_wall_ms));
    if (!judged) {
      observed.error = judged.error();
      break;
    }
    observed.cases.push_back(std::move(*judged));
    if (observed.cases.back().broken != HostJudged::Broken::no) break;
  }
  // A candidate that still waits for a round learns that there is none.
  ::shutdown(line.get(), SHUT_RDWR);
  return observed;
}

/// Where the judge ended the conversation the candidate's end only follows from it, and the verdict is the judge's.
bool ended_by_itself(JobRun& run, const Observed& observed) {
  if (observed.error) {
    run.take_back();
    return run.fail_ours(*observed.error, "judging on the host tier");
  }
  if (observed.cases.empty() || observed.cases.back().broken == HostJudged::Broken::ended) return true;
  const HostJudged& last = observed.cases.back();
  if (last.broken == HostJudged::Broken::no) return true;
  run.take_back();
  return run.fail(last.broken == HostJudged::Broken::late ? ErrorKind::timeout : ErrorKind::protocol_error, last.message);
}

bool add_cases(JobRun& run, const PreparedJob& prepared, Observed observed) {
  if (observed.cases.size() != prepared.cases.size() || observed.cases.back().broken != HostJudged::Broken::no)
    return run.fail(ErrorKind::protocol_error, "it said that it was done before the judge had seen all cases");
  for (std::size_t i = 0; i < prepared.cases.size(); ++i) {
    CaseRecord record = std::move(observed.cases[i].compared.record);
    record.id = prepared.cases[i].id;
    record.hidden = run.job().cases[i].hidden;
    record.cost_bytes = prepared.cases[i].cost_bytes;
    record.cost_flops = prepared.cases[i].cost_flops;
    record.latency = std::move(observed.cases[i].timing);
    run.verdict().provenance.seeds[record.id] = observed.cases[i].seed;
    add_record(run.verdict(), std::move(record), observed.cases[i].compared.kind);
  }
  return true;
}

}  // namespace

HostTier::HostTier(const SandboxConfig& config, Spawner& spawner, GpuAccess gpu) : config_(config), spawner_(spawner) {
  config_.gpu = std::move(gpu);
  config_.parked_candidates = 1;
}

Pool& HostTier::pool() {
  const std::lock_guard lock(mutex_);
  if (!pool_) pool_ = std::make_unique<Pool>(config_, spawner_);
  return *pool_;
}

std::optional<PoolFacts> HostTier::facts() const {
  const std::lock_guard lock(mutex_);
  return pool_ ? pool_->facts() : std::nullopt;
}

bool HostTier::run(JobRun& run, Judge& judge, const PreparedJob& prepared, bool timed) {
  Result<SocketPair> line = make_socket_pair();
  if (!line) return run.fail_ours(line.error(), "making the judge's line to the candidate");
  const HostAccess access{config_.gpu->devices.empty() ? "cpu" : "cuda", 0, run.job().limits.gpu_memory_bytes};
  CandidateJob request;
  request.mode = CandidateMode::host;
  request.entry = run.job().entry;
  request.dialect = run.job().dialect;
  request.cases = host_inputs(prepared);
  request.host = access;
  std::future<Observed> observing;
  // The candidate's end must be its alone: then the judge sees when it has died.
  const auto sent = [&] {
    line->theirs.reset();
    observing = std::async(std::launch::async, [&] { return observe(run, judge, prepared, timed, std::move(line->ours)); });
  };
  const std::optional<CandidateResults> results = run_candidate(run, pool(), request, run.job().source, {line->theirs.get()}, std::nullopt, sent);
  if (!observing.valid()) return false;
  Observed observed = observing.get();
  run.enter(Stage::judge);
  if (!ended_by_itself(run, observed) || !results) return false;
  return add_cases(run, prepared, std::move(observed));
}

}  // namespace assay::sandbox
