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

Result<Verdict> VerdictWriter::write(const std::string& job, Verdict verdict) {
  std::vector<JudgedJob> one = {judged_job(job, std::move(verdict))};
  return std::move(store_.finish_all(std::move(one), clock_.unix_ms()).front());
}

Verdict VerdictWriter::store(const sandbox::Job& job, Verdict verdict,
                             const std::stop_token& stop) {
  return std::move(store_all({{&job, std::move(verdict)}}, stop).front());
}

std::vector<Verdict> VerdictWriter::store_all(const std::vector<Judged>& judged,
                                              const std::stop_token& stop) {
  write_unstored();
  std::vector<Result<Verdict>> kept(judged.size(), fail(ErrorCode::internal, "not tried"));
  for (int left = patience_.attempts; left > 0; --left) {
    std::vector<std::size_t> places;
    std::vector<JudgedJob> jobs;
    for (std::size_t i = 0; i < judged.size(); ++i) {
      if (kept[i]) continue;
      places.push_back(i);
      jobs.push_back(judged_job(judged[i].job->id, judged[i].verdict));
    }
    if (places.empty()) break;
    if (left < patience_.attempts && !clock_.pause(patience_.pause, stop)) break;
    std::vector<Result<Verdict>> written = store_.finish_all(std::move(jobs), clock_.unix_ms());
    for (std::size_t n = 0; n < places.size(); ++n) kept[places[n]] = std::move(written[n]);
  }
  std::vector<Verdict> shown;
  for (std::size_t i = 0; i < judged.size(); ++i)
    shown.push_back(kept[i] ? std::move(*kept[i]) : give_up(judged[i], kept[i].error()));
  return shown;
}

Verdict VerdictWriter::give_up(const Judged& judged, const Error& why) {
  const sandbox::Job& job = *judged.job;
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
    if (!write(job, left.verdict))
      return;  // the store still fails, so it would fail for the others
    const MutexLock lock(mutex_);
    unstored_.erase(job);
  }
}

}  // namespace assay::server
