#include "server/workers/remote_device.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/log.h"
#include "base/median.h"
#include "sandbox/device/make_device.h"

namespace assay::server {
namespace {

using sandbox::ErrorKind;
using sandbox::Verdict;

constexpr std::size_t kFewestTimes = 3;  // a median of fewer health checks says too little
constexpr std::size_t kMostTimes = 64;

Verdict unfinished(const sandbox::Job& job, ErrorKind kind, std::string summary) {
  Verdict verdict;
  verdict.tells_hidden = false;
  verdict.job = job.id;
  verdict.kind = job.kind;
  verdict.operator_name = job.operator_name;
  verdict.error_kind = kind;
  verdict.summary = std::move(summary);
  verdict.tier_reason = "nothing ran";
  return verdict;
}

/// Tells the job's watchers that it runs again.
void tell_loss(sandbox::JobMonitor& monitor, std::int64_t attempt, bool preempted) {
  if (attempt == kMostAttempts) return;
  if (monitor.stage_changed) monitor.stage_changed(sandbox::Stage::queue);
  const auto state = preempted ? sandbox::EngineState::preempted : sandbox::EngineState::lost;
  if (monitor.engine_changed)
    monitor.engine_changed({.state = state,
                            .said = std::string(sandbox::sentence_of(state)) + "; attempt " +
                                    std::to_string(attempt + 1) + " of " +
                                    std::to_string(kMostAttempts)});
}

PoolSettings without_health_check(PoolSettings settings, bool has_health_job) {
  if (!has_health_job) settings.health_check_s = 0;
  return settings;
}

}  // namespace

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

RemoteDevice::RemoteDevice(const PoolSettings& settings, const WorkerRevision& revision,
                           const std::string& logs, MakeHealthJob make_health_job)
    : make_health_job_(std::move(make_health_job)),
      fleet_(without_health_check(settings, make_health_job_ != nullptr), revision, logs) {
  if (fleet_.settings().health_check_s > 0) examiner_ = std::jthread([this] { examine(); });
}

RemoteDevice::~RemoteDevice() { stop_.request_stop(); }

sandbox::DeviceInfo RemoteDevice::info() const {
  const PoolSettings& pool = fleet_.settings();
  return {.name = pool.name,
          .description = "at most " + std::to_string(pool.most) + " workers" +
                         (pool.device.empty() ? "" : " with device " + pool.device),
          .can_time = sandbox::can_time(pool.device),
          .best_tier = sandbox::Tier::none,
          .default_target = {},
          .concurrency = static_cast<int>(pool.most * pool.jobs_per_worker)};
}

std::map<std::string, std::int64_t> RemoteDevice::processes() const {
  const FleetReport report = fleet_.counts();
  return {{"workers_starting", report.starting},
          {"workers_idle", report.idle},
          {"workers_busy", report.busy},
          {"workers_draining", report.draining}};
}

Verdict RemoteDevice::execute(const sandbox::Job& job, sandbox::JobMonitor& monitor) {
  if (!job.plans.empty())
    return unfinished(job, ErrorKind::unsupported,
                      "workers replay no launch plans; use a device of this machine");
  const std::string& pool = fleet_.settings().name;
  for (std::int64_t attempt = 1; attempt <= kMostAttempts; ++attempt) {
    const Result<Fleet::Lease> lease =
        fleet_.take(monitor.stop, attempt == kMostAttempts, job.batch);
    if (!lease) {
      if (lease.error().code == ErrorCode::cancelled)
        return unfinished(job, ErrorKind::cancelled, "cancelled while it waited for a worker");
      // Clients see the summary, so the words of the command are only in the log.
      log::warning("a job got no worker", {{"job", job.id}, {"reason", lease.error().message}});
      return unfinished(job, ErrorKind::device_unhealthy,
                        "pool " + pool +
                            " has no worker, because several starts in a row failed; the server's "
                            "log says why");
    }
    Result<Verdict> verdict = fleet_.run(*lease, job, attempt, monitor);
    if (verdict) return std::move(*verdict);
    if (monitor.stop.stop_requested())
      return unfinished(job, ErrorKind::cancelled, "cancelled while it ran on a worker");
    log::warning("a job lost its worker", {{"job", job.id},
                                           {"attempt", attempt},
                                           {"worker", lease->worker()},
                                           {"reason", verdict.error().message}});
    tell_loss(monitor, attempt, fleet_.was_preempted(*lease));
  }
  return unfinished(job, ErrorKind::aborted,
                    "pool " + pool + " lost " + std::to_string(kMostAttempts) +
                        " workers that ran this job; the server's log says why");
}

void RemoteDevice::examine() {
  HealthTimes times;
  for (std::int64_t attempt = 1;; ++attempt) {
    const Result<Fleet::Lease> lease = fleet_.take_due(stop_.get_token());
    if (!lease) return;
    const sandbox::Job job = make_health_job_(lease->device());
    sandbox::JobMonitor monitor{.stop = stop_.get_token()};
    std::string complaint;
    // A time can be disturbed once, so the health check runs again before it counts.
    for (int left = 1; left >= 0; --left) {
      const Result<Verdict> verdict = fleet_.run(*lease, job, attempt, monitor);
      if (!verdict) {
        complaint = "its health check has no verdict";
        break;  // the worker was lost, which the fleet has noticed
      }
      complaint = times.complaint_about(*verdict);
      if (complaint.empty()) {
        fleet_.accept(*lease);
        break;
      }
      ++attempt;
      if (left == 0) fleet_.quarantine(*lease, complaint);
    }
  }
}

}  // namespace assay::server
