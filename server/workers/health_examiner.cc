#include "server/workers/health_examiner.h"

#include <chrono>
#include <cmath>
#include <utility>

#include "base/log.h"
#include "base/median.h"

namespace assay::server {
namespace {

using sandbox::Verdict;

constexpr std::size_t kFewestTimes = 3;  // a median of fewer health checks says too little
constexpr std::size_t kMostTimes = 64;
/// The pause after a health check that said nothing about its worker, so that health checks do not
/// follow each other all the time while no worker records.
constexpr std::chrono::seconds kPause(1);

}  // namespace

PoolSettings with_health_check(PoolSettings settings, const MakeHealthJob& make_job) {
  if (!make_job) settings.health_check_s = 0;
  return settings;
}

HealthExaminer::HealthExaminer(Fleet& fleet, MakeHealthJob make_job)
    : fleet_(fleet), make_job_(std::move(make_job)) {
  if (fleet_.settings().health_check_s > 0) thread_ = std::jthread([this] { examine(); });
}

bool failed_in_recording(const Verdict& verdict) {
  if (verdict.provenance.recorder.empty() || verdict.outcome != sandbox::Outcome::error)
    return false;
  switch (verdict.stage) {
    case sandbox::Stage::queue:  // the order waited for a worker that records
    case sandbox::Stage::import:
    case sandbox::Stage::compile:
    case sandbox::Stage::record: return true;
    default: return false;
  }
}

std::string HealthTimes::complaint_about(const Verdict& verdict) {
  if (verdict.outcome != sandbox::Outcome::pass)
    return "its health check did not pass: " + verdict.summary;
  double total_ns = 0;
  for (const sandbox::CaseRecord& record : verdict.cases) {
    if (record.latency) total_ns += record.latency->median_ns;
  }
  if (total_ns <= 0) return "";  // nothing was timed
  std::string complaint;
  if (earlier_ns_.size() >= kFewestTimes) {
    const double usual_ns = median_interval(earlier_ns_).median;
    const double off = total_ns / usual_ns - 1;
    if (std::abs(off) > kHealthTolerance)
      complaint = "its health check took " + std::to_string(std::llround(total_ns)) +
                  " ns, and the health checks of the pool take " +
                  std::to_string(std::llround(usual_ns)) + " ns";
  }
  if (!complaint.empty()) return complaint;
  earlier_ns_.push_back(total_ns);
  if (earlier_ns_.size() > kMostTimes) earlier_ns_.erase(earlier_ns_.begin());
  return "";
}

void HealthExaminer::examine() {
  HealthTimes times;
  while (true) {
    bool decided = false;
    {
      const Result<Fleet::Lease> lease = fleet_.take_due(stop_.get_token());
      if (!lease) return;
      decided = examine(*lease, times);
    }
    if (decided) continue;
    MutexLock lock(mutex_);
    pause_.wait_for(lock, stop_.get_token(), kPause, [] { return false; });
  }
}

bool HealthExaminer::examine(const Fleet::Lease& lease, HealthTimes& times) {
  const sandbox::Job job = make_job_(lease.device());
  sandbox::JobMonitor monitor{.stop = stop_.get_token()};
  std::string complaint;
  // A time can be disturbed once, so the health check runs again before it counts.
  for (int left = 1; left >= 0; --left) {
    const Result<Verdict> verdict = fleet_.run(lease, job, monitor);
    // This worker was lost, which the fleet has noticed, or the workers that record could not
    // serve it, which says nothing about this worker.
    if (!verdict) return false;
    complaint = times.complaint_about(*verdict);
    if (complaint.empty()) {
      fleet_.accept(lease);
      return true;
    }
    if (failed_in_recording(*verdict)) {
      log::warning("a health check was not recorded", {{"worker", lease.worker()},
                                                       {"recorder", verdict->provenance.recorder},
                                                       {"reason", complaint}});
      return false;
    }
  }
  fleet_.quarantine(lease, complaint);
  return true;
}

}  // namespace assay::server
