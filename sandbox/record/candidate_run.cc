#include "sandbox/record/candidate_run.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <memory>
#include <utility>

namespace assay::sandbox {
namespace {

constexpr std::int64_t kTakeMs = 120'000;  // a cold pool imports torch first
constexpr std::int64_t kSendMs = 10'000;
// The time from the end of a candidate's stream to the end of its process.
constexpr std::int64_t kGraceMs = 500;
// A candidate stops by itself only after this share of its time limit.
constexpr double kOwnStopShare = 0.9;
constexpr std::size_t kMaxArtifacts = 256;
constexpr std::size_t kMaxArtifactBytes = 64U << 20;

Stage work_stage(const CandidateJob& request) {
  return request.mode == CandidateMode::record ? Stage::record : Stage::run;
}

/// Recognises a fault of the GPU by the messages of torch and of the driver. Only a candidate of
/// the host tier has a GPU.
ErrorKind device_error_behind(ErrorKind kind, const Diagnostic& diagnostic) {
  const auto says = [&](const char* words) {
    return diagnostic.message.find(words) != std::string::npos;
  };
  if (says("CUDA out of memory")) return ErrorKind::gpu_memory_limit;
  const bool fault = says("illegal memory access") || says("misaligned address") ||
                     says("device-side assert") || says("unspecified launch failure");
  return fault && says("CUDA error") ? ErrorKind::gpu_fault : kind;
}

class Conversation {
 public:
  Conversation(JobExecution& run, Candidate& candidate, const CandidateTask& task)
      : run_(run),
        candidate_(candidate),
        request_(task.request),
        source_(task.source),
        announced_cases_(task.announced_cases.value_or(task.request.cases.size())),
        deadline_(run.deadline(run.job().limits.import_wall_ms)) {}

  /// Handles messages until `done`. Returns false when the verdict has become an error.
  bool follow() {
    while (!done_) {
      CandidateEvent event = candidate_.next(deadline_);
      if (event.kind != CandidateEvent::Kind::message) return ended(event);
      if (!std::visit([this](auto& message) { return on(message); }, event.message)) return false;
    }
    return true;
  }

  /// Ends the candidate. Returns false if it sent anything after `done` or could not be ended.
  /// Data that it wrote after its last result is not judged.
  bool close() {
    candidate_.end();
    if (!candidate_.exited())
      return run_.fail(ErrorKind::timeout,
                       "the candidate could not be ended after its last result");
    if (candidate_.has_unread())
      return run_.fail(ErrorKind::protocol_error, "the candidate sent more after its last result");
    return true;
  }

  CandidateResults take() { return std::move(results_); }

 private:
  bool on(Parked&) {
    return run_.fail(ErrorKind::protocol_error, "the candidate sent `parked` twice");
  }

  bool on(Imported&) {
    if (imported_)
      return run_.fail(ErrorKind::protocol_error, "the candidate sent `imported` twice");
    imported_ = true;
    run_.enter(work_stage(request_));
    deadline_ = run_.deadline(run_.job().limits.run_wall_ms);
    since_ns_ = system_clock().monotonic_ns();
    return true;
  }

  bool on(CaseDone& done) {
    const std::size_t next = results_.cases.size();
    if (!imported_ || next >= request_.cases.size() || request_.cases[next].id != done.id) {
      return run_.fail(ErrorKind::protocol_error,
                       "unexpected result for case '" + done.id.substr(0, 64) + "'");
    }
    results_.cases.push_back(std::move(done));
    // The time of a host candidate includes the judge's rounds, so each case gets the whole limit.
    if (request_.mode == CandidateMode::host)
      deadline_ = run_.deadline(run_.job().limits.run_wall_ms);
    run_.case_done(results_.cases.size(), announced_cases_);
    return true;
  }

  bool on(Artifact& artifact) {
    artifact_bytes_ += artifact.bytes.size() + artifact.kind.size() + artifact.name.size();
    if (results_.artifacts.size() >= kMaxArtifacts || artifact_bytes_ > kMaxArtifactBytes)
      return run_.fail(ErrorKind::output_limit, "the candidate sent more artifacts than are kept");
    results_.artifacts.push_back(std::move(artifact));
    return true;
  }

  bool on(CandidateError& error) {
    candidate_.end();
    if (error.kind == ErrorKind::timeout && !time_is_nearly_up())
      return run_.fail(ErrorKind::protocol_error,
                       "the candidate reported a timeout before its time limit");
    error.diagnostic.line = line_of_source(error.diagnostic.line, source_);
    run_.verdict().diagnostic = error.diagnostic;
    ErrorKind kind = limit_behind(error.kind, error.diagnostic);
    if (request_.mode == CandidateMode::host) kind = device_error_behind(kind, error.diagnostic);
    if (candidate_.out_of_memory())
      kind = ErrorKind::memory_limit;
    else if (candidate_.out_of_processes())
      kind = ErrorKind::process_limit;
    std::string detail = (kind == ErrorKind::timeout ? "" : error.diagnostic.exception + ": ") +
                         error.diagnostic.message;
    if (!error.case_id.empty()) detail += " (case '" + error.case_id.substr(0, 64) + "')";
    return run_.fail(kind, error.stage, detail);
  }

  bool on(Done&) {
    if (results_.cases.size() != request_.cases.size()) {
      return run_.fail(ErrorKind::protocol_error,
                       "the candidate sent `done` after " + std::to_string(results_.cases.size()) +
                           " of " + std::to_string(request_.cases.size()) + " cases");
    }
    done_ = true;
    return true;
  }

  bool ended(const CandidateEvent& event) {
    using Kind = CandidateEvent::Kind;
    const std::optional<ExitStatus> status =
        candidate_.end(event.kind == Kind::ended ? kGraceMs : 0);
    const std::string where = " in stage " + std::string(to_string(run_.stage()));
    if (event.kind == Kind::cancelled) return run_.fail(ErrorKind::cancelled, "cancelled" + where);
    if (candidate_.out_of_memory())
      return run_.fail(ErrorKind::memory_limit,
                       "used more than " + std::to_string(run_.job().limits.memory_bytes >> 20) +
                           " MiB" + where);
    switch (event.kind) {
      case Kind::timeout:
        return candidate_.out_of_processes() ? run_.fail(ErrorKind::process_limit, processes())
                                             : run_.fail(ErrorKind::timeout, timed_out(where));
      case Kind::flood: return run_.fail(ErrorKind::output_limit, event.text);
      case Kind::malformed:
        return run_.fail(ErrorKind::protocol_error,
                         "the candidate broke the protocol: " + event.text);
      default: return process_ended(status, where);
    }
  }

  bool process_ended(const std::optional<ExitStatus>& status, const std::string& where) {
    if (!status)
      return run_.fail(ErrorKind::internal_error, "the zygote died with the candidate" + where);
    if (candidate_.was_killed())
      return run_.fail(ErrorKind::protocol_error,
                       "the candidate closed its channel before it had sent all results" + where);
    if (candidate_.out_of_processes()) return run_.fail(ErrorKind::process_limit, processes());
    if (!status->by_signal()) {
      return run_.fail(
          ErrorKind::protocol_error,
          "exited with status " + std::to_string(status->value) + where +
              " before it had sent all results; a submission returns from its entry function");
    }
    const bool filtered = status->value == SIGSYS;
    return run_.fail(ErrorKind::crash,
                     "killed by " + signal_name(status->value) + where +
                         (filtered ? ": a system call that the sandbox forbids" : ""));
  }

  std::int64_t wall_ms() const {
    return imported_ ? run_.job().limits.run_wall_ms : run_.job().limits.import_wall_ms;
  }

  std::string timed_out(const std::string& where) const {
    return "ran longer than " + std::to_string(wall_ms()) + " ms" + where;
  }

  /// A candidate stops by itself shortly before its deadline (harness/entry/time_limit.py). An
  /// earlier report of a timeout is false.
  bool time_is_nearly_up() const {
    const double passed_ms =
        static_cast<double>(system_clock().monotonic_ns() - since_ns_) / kNsPerMs;
    return passed_ms >= kOwnStopShare * static_cast<double>(wall_ms());
  }

  std::string processes() const {
    return "started more than " + std::to_string(run_.job().limits.processes) +
           " processes and threads";
  }

  JobExecution& run_;
  Candidate& candidate_;
  const CandidateJob& request_;
  const std::string& source_;
  const std::size_t announced_cases_;
  Deadline deadline_;
  std::int64_t since_ns_ = system_clock().monotonic_ns();  // the start of the current deadline
  CandidateResults results_;
  std::size_t artifact_bytes_ = 0;
  bool imported_ = false, done_ = false;
};

void keep_output(Verdict& verdict, const Candidate& candidate) {
  verdict.stdout_text += candidate.stdout_text();
  verdict.stderr_text += candidate.stderr_text();
}

}  // namespace

ErrorKind limit_behind(ErrorKind kind, const Diagnostic& diagnostic) {
  if (diagnostic.exception == "MemoryError") return ErrorKind::memory_limit;
  const auto says = [&](const char* words) {
    return diagnostic.message.find(words) != std::string::npos;
  };
  if (says("[Errno 28]")) return ErrorKind::disk_limit;
  if (diagnostic.exception == "BlockingIOError" && says("[Errno 11]"))
    return ErrorKind::process_limit;
  if (says("can't start new thread")) return ErrorKind::process_limit;
  if (says("DefaultCPUAllocator: can't allocate memory") || says("[Errno 12]"))
    return ErrorKind::memory_limit;
  return kind;
}

std::optional<std::int64_t> line_of_source(std::optional<std::int64_t> line,
                                           std::string_view source) {
  // A line ends as Python reads it: at LF, CR, or CR LF.
  std::int64_t lines = 1 + std::count(source.begin(), source.end(), '\n');
  for (std::size_t at = source.find('\r'); at != std::string_view::npos;
       at = source.find('\r', at + 1)) {
    if (at + 1 == source.size() || source[at + 1] != '\n') ++lines;
  }
  return line && *line >= 1 && *line <= lines ? line : std::nullopt;
}

std::optional<CandidateResults> run_candidate(JobExecution& run, CandidatePool& pool,
                                              const CandidateTask& task) {
  Result<std::unique_ptr<Candidate>> candidate = pool.take(run.job().limits, run.deadline(kTakeMs));
  if (!candidate)
    return run.fail_infrastructure(candidate.error(), "waiting for a candidate"), std::nullopt;
  run.enter(Stage::import);
  std::optional<CandidateResults> results;
  CandidateJob limited = task.request;
  limited.import_wall_ms = run.job().limits.import_wall_ms;
  if (task.request.mode != CandidateMode::host) limited.run_wall_ms = run.job().limits.run_wall_ms;
  if (Status given = (*candidate)->send(limited, task.source, task.fds, run.deadline(kSendMs));
      !given) {
    run.fail_infrastructure(given.error(), "sending the job to a candidate");
  } else {
    if (task.sent) task.sent();
    Conversation conversation(run, **candidate, task);
    if (conversation.follow() && conversation.close()) results = conversation.take();
  }
  (*candidate)->end();
  keep_output(run.verdict(), **candidate);
  pool.give_back(std::move(*candidate));
  return results;
}

}  // namespace assay::sandbox
