#include "server/runs/verdict_writer.h"

#include <utility>

#include "base/log.h"
#include "server/runs/finished_job.h"

namespace assay::server {

using sandbox::ErrorKind;
using sandbox::Verdict;
using tools::JobState;

namespace {

JudgedJob judged_job(const std::string& job, Verdict verdict) {
  const bool refund = sandbox::is_infrastructure_error(verdict.error_kind);
  const JobState state = end_state(verdict);
  return {job, state, std::move(verdict), refund};
}

}  // namespace

JobState end_state(const Verdict& verdict) {
  return verdict.error_kind == ErrorKind::cancelled ? JobState::cancelled
         : verdict.error_kind == ErrorKind::aborted ? JobState::aborted
                                                    : JobState::finished;
}

Verdict VerdictWriter::store(const sandbox::Job& job, Verdict verdict,
                             const std::stop_token& stop) {
  for (int left = patience_.attempts;;) {
    Result<Verdict> stored = std::move(try_all({{&job, &verdict}}).front());
    if (stored) return std::move(*stored);
    if (--left <= 0 || !clock_.pause(patience_.pause, stop)) return give_up(job, stored.error());
  }
}

std::vector<Result<Verdict>> VerdictWriter::try_all(const std::vector<Judged>& judged) {
  write_unstored();
  std::vector<JudgedJob> jobs;
  for (const Judged& one : judged) jobs.push_back(judged_job(one.job->id, *one.verdict));
  return store_.finish_all(std::move(jobs), clock_.unix_ms());
}

Verdict VerdictWriter::give_up(const sandbox::Job& job, const Error& why) {
  // A write can fail after it has changed the file, for example while the disk is flushed.
  if (const auto found = store_.finished_job(job.id, job.caller); found && *found)
    return (*found)->verdict;
  log::error("a verdict cannot be stored", {{"job", job.id}, {"error", why.message}});
  // Callers must not see a verdict that a restart could change, because the store has none.
  Verdict failed = verdict_without_execution(job, ErrorKind::internal_error,
                                             "the verdict could not be stored: " + why.message);
  const MutexLock lock(mutex_);
  unstored_[job.id] = {job.run, failed};
  return failed;
}

std::optional<VerdictWriter::Unstored> VerdictWriter::unstored(const std::string& job) const {
  const MutexLock lock(mutex_);
  const auto found = unstored_.find(job);
  return found == unstored_.end() ? std::nullopt : std::optional(found->second);
}

void VerdictWriter::write_unstored() {
  std::map<std::string, Unstored> waiting;
  {
    const MutexLock lock(mutex_);
    waiting = unstored_;
  }
  for (const auto& [job, left] : waiting) {
    const Result<Verdict> written =
        std::move(store_.finish_all({judged_job(job, left.verdict)}, clock_.unix_ms()).front());
    if (written) {
      const MutexLock lock(mutex_);
      unstored_.erase(job);
    } else if (written.error().code != ErrorCode::internal) {
      return;  // the store still fails, so it would fail for the others
    }
  }
}

}  // namespace assay::server
