#include "sandbox/record/candidate_run.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "sandbox/record/candidate_error.h"

namespace assay::sandbox {
namespace {

// The time limit for taking a candidate from the pool. The first job may have to wait until the
// zygote has imported torch.
constexpr std::int64_t kTakeMs = 120'000;
constexpr std::int64_t kSendMs = 10'000;
// The time from the end of a candidate's stream to the end of its process, in milliseconds.
constexpr std::int64_t kGraceMs = 500;
// The share of its time limit after which a candidate may stop itself.
constexpr double kOwnStopShare = 0.9;
constexpr std::size_t kMaxArtifacts = 256;
constexpr std::size_t kMaxArtifactBytes = 64U << 20;

Stage work_stage(const CandidateJob& request) {
  return request.mode == CandidateMode::record ? Stage::record : Stage::run;
}

bool is_syntax_error(ErrorKind kind) {
  return kind == ErrorKind::syntax_error || kind == ErrorKind::indentation_error;
}

}  // namespace

CandidateRun::CandidateRun(JobExecution& run, CandidatePool& pool, const CandidateTask& task)
    : run_(&run), pool_(pool), task_(task) {}

CandidateRun::~CandidateRun() {
  if (!candidate_) return;
  candidate_->end();
  run_->verdict().stdout_text += candidate_->stdout_text();
  run_->verdict().stderr_text += candidate_->stderr_text();
  pool_.give_back(std::move(candidate_));
}

bool CandidateRun::start() {
  const Limits& limits = run_->job().limits;
  Result<std::unique_ptr<Candidate>> taken = pool_.take(limits, run_->deadline(kTakeMs));
  if (!taken) return run_->fail_infrastructure(taken.error(), "waiting for a candidate");
  candidate_ = std::move(*taken);
  run_->enter(Stage::import);
  CandidateJob limited = task_.request;
  limited.import_wall_ms = limits.import_wall_ms;
  if (Status given = candidate_->send(limited, task_.source, task_.fds, run_->deadline(kSendMs));
      !given)
    return run_->fail_infrastructure(given.error(), "sending the job to a candidate");
  if (task_.sent) task_.sent();
  limit_time(limits.import_wall_ms);
  return follow([this] { return imported_; });
}

std::optional<std::vector<CaseDone>> CandidateRun::perform(const CandidateInputs& batch,
                                                           bool last) {
  const std::int64_t limit_ms = task_.run_wall_ms.value_or(run_->job().limits.run_wall_ms);
  last_ = last;
  earlier_cases_ += cases_.size();
  cases_.clear();
  expected_.clear();
  for (const CandidateCase& one : batch.cases) {
    if (is_hidden(run_->job(), one.id)) run_->tell_hidden();
    expected_.push_back(one.id);
  }
  run_->enter(work_stage(task_.request));
  const bool host = task_.request.mode == CandidateMode::host;
  const std::int64_t left_ms =
      host ? limit_ms : std::max<std::int64_t>(limit_ms - static_cast<std::int64_t>(used_ms_), 1);
  if (task_.request.mode != CandidateMode::disassemble) {
    const CandidateBatch sent{batch.cases, last, host ? 0 : left_ms};
    const Status given = candidate_->send(sent, batch.fds, run_->deadline(kSendMs));
    // If the candidate closed its socket or does not read, this function ignores the failure.
    // follow() then reports an error that also says how the candidate ended.
    const bool is_the_candidates = given || given.error().code == ErrorCode::unavailable ||
                                   given.error().code == ErrorCode::resource_exhausted;
    if (!is_the_candidates)
      return run_->fail_infrastructure(given.error(), "sending cases to a candidate"), std::nullopt;
  }
  limit_time(left_ms);
  if (!follow([this] { return last_ ? done_ : cases_.size() == expected_.size(); }))
    return std::nullopt;
  used_ms_ += passed_ms();
  if (run_->stage() == Stage::run) {
    if (const std::optional<CpuTimes> cpu = processor_time())
      run_->verdict().run_cpu_ms += cpu->used_ms;
  }
  if (last && !close()) return std::nullopt;
  return std::move(cases_);
}

/// Handles messages until `reached` returns true. Ends the candidate and returns false if the
/// verdict has become an error.
bool CandidateRun::follow(const std::function<bool()>& reached) {
  while (!reached()) {
    CandidateEvent event = candidate_->next(deadline_);
    if (event.kind != CandidateEvent::Kind::message) return ended(event);
    if (std::visit([this](auto& message) { return on(message); }, event.message)) continue;
    candidate_->end();
    return false;
  }
  return true;
}

/// Ends the candidate. Returns false if the candidate sent anything after the message `done`, or if
/// it could not be ended. No output is judged before the candidate has ended.
bool CandidateRun::close() {
  candidate_->end();
  if (!candidate_->exited())
    return run_->fail(ErrorKind::internal_error,
                      "the candidate could not be ended after its last result");
  if (candidate_->has_unread())
    return run_->fail(ErrorKind::protocol_error, "the candidate sent more after its last result");
  return true;
}

bool CandidateRun::on(Parked&) {
  return run_->fail(ErrorKind::protocol_error, "the candidate sent `parked` twice");
}

bool CandidateRun::on(SourceParsed&) {
  if (parsed_) return run_->fail(ErrorKind::protocol_error, "the candidate sent `parsed` twice");
  parsed_ = true;
  return true;
}

bool CandidateRun::on(Imported&) {
  if (imported_)
    return run_->fail(ErrorKind::protocol_error, "the candidate sent `imported` twice");
  if (!parsed_ && task_.request.mode != CandidateMode::disassemble)
    return run_->fail(ErrorKind::protocol_error, "the candidate sent `imported` before `parsed`");
  imported_ = true;
  return true;
}

bool CandidateRun::on(CaseDone& done) {
  const std::size_t next = cases_.size();
  if (!imported_ || next >= expected_.size() || expected_[next] != done.id) {
    return run_->fail(ErrorKind::protocol_error,
                      "unexpected result for case '" + done.id.substr(0, 64) + "'");
  }
  if (std::any_of(done.kernels.begin(), done.kernels.end(), [&](const KernelReport& kernel) {
        return kernel.target != task_.request.target;
      }))
    return run_->fail(ErrorKind::protocol_error, "a kernel is reported for another target than '" +
                                                     task_.request.target + "'");
  cases_.push_back(std::move(done));
  // The time of a host candidate includes the judge's rounds, so each case gets the whole time
  // limit.
  if (task_.request.mode == CandidateMode::host) limit_time(run_->job().limits.run_wall_ms);
  run_->case_done(earlier_cases_ + cases_.size(), task_.announced_cases.value_or(expected_.size()));
  return true;
}

bool CandidateRun::on(Artifact& artifact) {
  artifact_bytes_ += artifact.bytes.size() + artifact.kind.size() + artifact.name.size();
  if (artifacts_.size() >= kMaxArtifacts || artifact_bytes_ > kMaxArtifactBytes)
    return run_->fail(ErrorKind::output_limit, "the candidate sent more artifacts than are kept");
  artifacts_.push_back(std::move(artifact));
  return true;
}

/// Puts an error that the candidate reports into the verdict. The supervisor determines the stage
/// of the error. It believes the candidate only if the candidate names the stage `compile`, which
/// is a part of `record` and `run`. After the source has been parsed, the source's text has no
/// syntax error. A later SyntaxError was raised by code of the submission.
bool CandidateRun::on(CandidateError& error) {
  const bool stopped = error.kind == ErrorKind::timeout;
  if (stopped && passed_ms() < kOwnStopShare * static_cast<double>(wall_ms_))
    return run_->fail(ErrorKind::protocol_error,
                      "the candidate reported a timeout before its time limit");
  const CandidateEvent::Kind limit = CandidateEvent::Kind::timeout;
  const std::int64_t percent = run_->job().limits.cpu_percent;
  if (stopped && lacked_cpu(processor_time(), wall_ms_, percent)) return ended({.kind = limit});
  candidate_->end();
  if (candidate_->machine_out_of_memory()) return ended({.kind = CandidateEvent::Kind::ended});
  Diagnostic& found = error.diagnostic;
  found.line = line_of_source(found.line, task_.source);
  if (parsed_ && is_syntax_error(error.kind)) error.kind = ErrorKind::other_exception;
  run_->verdict().diagnostic = found;
  ErrorKind kind = limit_behind(error);
  if (task_.request.mode == CandidateMode::host) kind = device_error_behind(kind, error);
  if (candidate_->out_of_memory())
    kind = ErrorKind::memory_limit;
  else if (candidate_->out_of_processes())
    kind = ErrorKind::process_limit;
  else if (is_shortage(error))
    run_->tell_shortage();
  std::string detail = (kind == ErrorKind::timeout ? "" : found.exception + ": ") + found.message;
  if (!error.case_id.empty()) detail += " (case '" + error.case_id.substr(0, 64) + "')";
  const Stage stage = imported_ && error.stage == Stage::compile ? Stage::compile : run_->stage();
  return run_->fail(kind, stage, detail);
}

bool CandidateRun::on(Done&) {
  if (!imported_ || !last_ || cases_.size() != expected_.size()) {
    return run_->fail(ErrorKind::protocol_error, "the candidate sent `done` after " +
                                                     std::to_string(cases_.size()) + " of " +
                                                     std::to_string(expected_.size()) + " cases");
  }
  done_ = true;
  return true;
}

bool CandidateRun::ended(const CandidateEvent& event) {
  using Kind = CandidateEvent::Kind;
  CandidateEnd end{
      .event = event.kind, .text = event.text, .ran_code = parsed_, .wall_ms = wall_ms_};
  if (event.kind == Kind::timeout) end.cpu = processor_time();
  end.status = candidate_->end(event.kind == Kind::ended ? kGraceMs : 0);
  end.was_killed = candidate_->was_killed();
  end.out_of_memory = candidate_->out_of_memory();
  end.machine_out_of_memory = candidate_->machine_out_of_memory();
  end.out_of_processes = candidate_->out_of_processes();
  const EndError error = error_of(end, run_->job().limits);
  return run_->fail(error.kind,
                    error.detail + " (in stage " + std::string(to_string(run_->stage())) + ")");
}

/// Returns the processor time since the current deadline was set.
std::optional<CpuTimes> CandidateRun::processor_time() const {
  const std::optional<CpuTimes> now = candidate_->cpu_times();
  if (!now || !cpu_before_) return std::nullopt;
  return CpuTimes{.used_ms = now->used_ms - cpu_before_->used_ms,
                  .waited_ms = now->waited_ms - cpu_before_->waited_ms,
                  .counts_all = now->counts_all && cpu_before_->counts_all};
}

void CandidateRun::limit_time(std::int64_t wall_ms) {
  wall_ms_ = wall_ms;
  since_ns_ = system_clock().monotonic_ns();
  cpu_before_ = candidate_->cpu_times();
  deadline_ = run_->deadline(wall_ms);
}

/// Returns the time since the current deadline was set. A candidate stops itself only shortly
/// before its deadline (harness/entry/time_limit.py). So an earlier report of a timeout is false.
double CandidateRun::passed_ms() const {
  return static_cast<double>(system_clock().monotonic_ns() - since_ns_) / kNsPerMs;
}

bool is_hidden(const Job& job, const std::string& id) {
  return std::none_of(job.cases.begin(), job.cases.end(),
                      [&](const CaseRequest& one) { return one.id == id && !one.hidden; });
}

}  // namespace assay::sandbox
