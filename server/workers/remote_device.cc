#include "server/workers/remote_device.h"

#include <utility>

#include "base/log.h"
#include "sandbox/device/make_device.h"

namespace assay::server {
namespace {

using sandbox::ErrorKind;
using sandbox::Verdict;

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

}  // namespace

RemoteDevice::RemoteDevice(const PoolSettings& settings, const WorkerRevision& revision,
                           const std::string& logs, MakeHealthJob make_health_job,
                           std::shared_ptr<RecordPool> records)
    : records_(std::move(records)),
      fleet_(with_health_check(settings, make_health_job), revision, logs,
             records_ ? &records_->fleet() : nullptr),
      examiner_(fleet_, std::move(make_health_job)) {}

sandbox::EngineNote RemoteDevice::engine() const {
  sandbox::EngineNote note = fleet_.engine();
  if (note.state != sandbox::EngineState::none || !records_) return note;
  return records_->fleet().engine();
}

sandbox::DeviceInfo RemoteDevice::info() const {
  const PoolSettings& pool = fleet_.settings();
  const bool any_device = pool.device.empty();
  return {.name = pool.name,
          .description = "at most " + std::to_string(pool.most) + " workers" +
                         (any_device ? "" : " with device " + pool.device),
          .can_time = any_device || sandbox::can_time(pool.device),
          .best_tier = sandbox::Tier::none,
          .default_target = {},
          .concurrency = static_cast<int>(pool.most * pool.jobs_per_worker),
          .hardware = fleet_.counts().hardware};
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
    const Result<Fleet::Lease> lease = fleet_.take(
        monitor.stop, {.alone = attempt == kMostAttempts, .batch = job.batch, .run = job.run});
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
    Result<Verdict> verdict = fleet_.run(*lease, job, monitor, attempt == kMostAttempts);
    if (verdict) {
      // A worker whose GPU has failed answers at once, so it would get most of the next jobs.
      if (verdict->error_kind == ErrorKind::device_unhealthy) fleet_.doubt(*lease);
      return std::move(*verdict);
    }
    if (monitor.stop.stop_requested())
      return unfinished(job, ErrorKind::cancelled, "cancelled while it ran on a worker");
    if (verdict.error().code == ErrorCode::resource_exhausted) {
      log::warning("a job got no worker that records",
                   {{"job", job.id}, {"reason", verdict.error().message}});
      return unfinished(job, ErrorKind::device_unhealthy,
                        "pool " + fleet_.settings().records +
                            " has no worker, because several starts in a row failed; the server's "
                            "log says why");
    }
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

}  // namespace assay::server
