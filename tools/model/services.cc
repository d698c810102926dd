#include "tools/model/services.h"

namespace assay::tools {

std::string_view tool_of(sandbox::JobKind kind) {
  switch (kind) {
    case sandbox::JobKind::compile: return "compile";
    case sandbox::JobKind::test: return "run_tests";
    case sandbox::JobKind::profile: return "profile";
    case sandbox::JobKind::grade: return "submit";
  }
  return "?";
}

Baseline baseline_of(const OperatorScore& score, const operators::Operator* op) {
  if (score.verdict && score.verdict->baseline) return *score.verdict->baseline;
  // A verdict of an older version does not name its baseline, which was the oracle.
  return op == nullptr || score.verdict ? Baseline::oracle : op->baseline;
}

std::string_view to_string(JobState state) {
  switch (state) {
    case JobState::queued: return "queued";
    case JobState::running: return "running";
    case JobState::finished: return "finished";
    case JobState::cancelled: return "cancelled";
    case JobState::aborted: return "aborted";
  }
  return "?";
}

std::vector<Result<std::string>> JobService::submit_all(const Principal& principal,
                                                        std::vector<NewJob> jobs) {
  std::vector<Result<std::string>> handles;
  handles.reserve(jobs.size());
  for (NewJob& one : jobs)
    handles.push_back(submit(principal, std::move(one.job), one.run, one.device));
  return handles;
}

}  // namespace assay::tools
