#include "server/runs/verdict_writer.h"

#include <utility>

#include "base/log.h"
#include "server/runs/finished_job.h"

namespace assay::server {

using sandbox::ErrorKind;
using sandbox::Verdict;
using tools::JobState;

JobState end_state(const Verdict& verdict) {
  return verdict.error_kind == ErrorKind::cancelled ? JobState::cancelled
         : verdict.error_kind == ErrorKind::aborted ? JobState::aborted
                                                    : JobState::finished;
}

Result<Verdict> VerdictWriter::write(const std::string& job, Verdict verdict) {
  const bool refund = sandbox::is_infrastructure_error(verdict.error_kind);
  const JobState state = end_state(verdict);
  return store_.finish(job, state, std::move(verdict), refund, clock_.unix_ms());
}

Verdict VerdictWriter::store(const sandbox::Job& job, Verdict verdict,
                             const std::stop_token& stop) {
  write_unstored();
  Result<Verdict> kept = write(job.id, verdict);
  for (int left = patience_.attempts - 1; !kept && left > 0; --left) {
    if (!clock_.pause(patience_.pause, stop)) break;
    kept = write(job.id, verdict);
  }
  if (kept) return std::move(*kept);
  // A write can fail after it has changed the file, for example while the disk is flushed.
  if (const auto found = store_.finished_job(job.id, job.caller); found && *found)
    return (*found)->verdict;
  log::error("a verdict cannot be stored", {{"job", job.id}, {"error", kept.error().message}});
  // Callers must not see a verdict that a restart could change, because the store has none.
  Verdict failed = verdict_without_execution(
      job, ErrorKind::internal_error, "the verdict could not be stored: " + kept.error().message);
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
    if (!write(job, left.verdict))
      return;  // the store still fails, so it would fail for the others
    const MutexLock lock(mutex_);
    unstored_.erase(job);
  }
}

}  // namespace assay::server
