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
#include <map>
#include <memory>
#include <string>

#include "sandbox/job/device.h"
#include "server/workers/fleet.h"
#include "server/workers/health_examiner.h"
#include "server/workers/pool_settings.h"

namespace assay::server {

/// A job runs on so many workers until one gives a verdict. On the last one it runs alone, because
/// it may have caused the losses.
inline constexpr std::int64_t kMostAttempts = 3;
class RemoteDevice final : public sandbox::Device {
 public:
  /// `logs` is an existing folder, for what the commands of the workers write to stderr. Without a
  /// health check no worker is examined.
  /// With role launch, `records` is the pool that records.
  RemoteDevice(const PoolSettings& settings, const WorkerRevision& revision,
               const std::string& logs, MakeHealthJob make_health_job,
               std::shared_ptr<RecordPool> records = nullptr);

  sandbox::DeviceInfo info() const override;
  std::map<std::string, std::int64_t> processes() const override;
  sandbox::EngineNote engine() const override;
  sandbox::Verdict execute(const sandbox::Job& job, sandbox::JobMonitor& monitor) override;

  FleetReport report() const { return fleet_.report(); }
  /// Returns the pool that records for this one, or null.
  const RecordPool* records() const { return records_.get(); }

 private:
  const std::shared_ptr<RecordPool> records_;  // null unless the role is launch
  Fleet fleet_;
  HealthExaminer examiner_;
};

}  // namespace assay::server
