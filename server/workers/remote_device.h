// RemoteDevice is a device whose jobs run on the workers of a pool, on this machine or on others.
// A job whose worker is lost runs again on another worker, at most twice. A health check, which is
// a job with a known answer, examines each worker before its first job and every few minutes.
//
//   RemoteDevice device(settings, revision, "/var/lib/assay/workers", make_health_job);
//   const sandbox::Verdict verdict = device.execute(job, monitor);
//   verdict.provenance.worker;  // "h200-3@node17"
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "sandbox/job/device.h"
#include "server/workers/fleet.h"
#include "server/workers/pool_settings.h"

namespace assay::server {

/// A job runs on so many workers until one gives a verdict. On the last one it runs alone, because
/// it may have caused the losses.
inline constexpr std::int64_t kMostAttempts = 3;
/// A worker whose health check is longer or shorter than the pool's median by this share is not
/// used.
inline constexpr double kHealthTolerance = 0.02;

/// Compares the times of health checks. Not thread-safe.
class HealthTimes {
 public:
  /// Returns "" if the verdict passes, and if its time is near the median of the earlier ones.
  /// Otherwise returns the reason against the worker.
  std::string complaint_about(const sandbox::Verdict& verdict);

 private:
  std::vector<double> earlier_ns_;  // the newest are at the end
};

/// Makes the health check for a device: a job whose right verdict is a pass. If the device measures
/// times, the health check is timed.
using MakeHealthJob = std::function<sandbox::Job(const sandbox::DeviceInfo& device)>;

class RemoteDevice final : public sandbox::Device {
 public:
  /// `logs` is an existing folder, for what the commands of the workers write to stderr. Without a
  /// health check no worker is examined.
  RemoteDevice(const PoolSettings& settings, const WorkerRevision& revision,
               const std::string& logs, MakeHealthJob make_health_job);
  ~RemoteDevice() override;

  sandbox::DeviceInfo info() const override;
  std::map<std::string, std::int64_t> processes() const override;
  sandbox::EngineNote engine() const override { return fleet_.engine(); }
  sandbox::Verdict execute(const sandbox::Job& job, sandbox::JobMonitor& monitor) override;

  FleetReport report() const { return fleet_.report(); }

 private:
  void examine();

  const MakeHealthJob make_health_job_;  // may be null
  Fleet fleet_;
  std::stop_source stop_;
  std::jthread examiner_;
};

}  // namespace assay::server
