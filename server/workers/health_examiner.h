// HealthExaminer runs a job with a known answer on each worker of a pool, before the worker's first
// job and every few minutes. A worker that answers wrongly, or whose time is off, goes into
// quarantine. A failure of the workers that record for it does not count against it. RecordPool is
// a pool of workers that record, with its examiner.
//
//   Fleet fleet(with_health_check(settings, make_health_job), revision, logs);
//   HealthExaminer examiner(fleet, make_health_job);
//
// Thread-safe.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "sandbox/job/device.h"
#include "server/workers/fleet.h"
#include "server/workers/pool_settings.h"

namespace assay::server {

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

/// Returns true if the job ended with an error while another worker recorded it, or before that
/// worker began. Such a verdict says nothing about the worker that launches, which takes no part in
/// import, compilation and recording.
bool failed_in_recording(const sandbox::Verdict& verdict);

/// Makes the health check for a device: a job whose right verdict is a pass. If the device measures
/// times, the health check is timed.
using MakeHealthJob = std::function<sandbox::Job(const sandbox::DeviceInfo& device)>;

/// Returns the settings without health checks if there is no job for them.
PoolSettings with_health_check(PoolSettings settings, const MakeHealthJob& make_job);

class HealthExaminer {
 public:
  /// Begins to examine the workers of the fleet, which must outlive this object, unless its
  /// settings have no health checks.
  HealthExaminer(Fleet& fleet, MakeHealthJob make_job);
  ~HealthExaminer() { stop_.request_stop(); }
  HealthExaminer(const HealthExaminer&) = delete;
  HealthExaminer& operator=(const HealthExaminer&) = delete;

 private:
  void examine();
  /// Runs the health check, and accepts the worker or puts it into quarantine. Returns false if the
  /// health check says nothing about the worker, which then stays due.
  bool examine(const Fleet::Lease& lease, HealthTimes& times);

  Fleet& fleet_;
  const MakeHealthJob make_job_;  // may be null
  std::stop_source stop_;
  Mutex mutex_;
  Condition pause_;  // nothing notifies it; a stop request ends the wait
  std::jthread thread_;
};

class RecordPool {
 public:
  /// `logs` is an existing folder, for what the commands of the workers write to stderr.
  RecordPool(const PoolSettings& settings, const WorkerRevision& revision, const std::string& logs,
             const MakeHealthJob& make_health_job)
      : fleet_(with_health_check(settings, make_health_job), revision, logs),
        examiner_(fleet_, make_health_job) {}

  Fleet& fleet() { return fleet_; }
  FleetReport report() const { return fleet_.report(); }

 private:
  Fleet fleet_;
  HealthExaminer examiner_;
};

}  // namespace assay::server
