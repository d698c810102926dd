// ActiveJob is a job in memory, from its acceptance to its verdict. Through it, other threads can
// read the progress of the job, wait for a change, and cancel the job. Thread-safe.
//
//   ActiveJob active(job, queue, clock);
//   device.execute(active.job(), active.monitor());  // reports progress, and observes cancel()
//
// Another thread waits at the same time:
//
//   active.wait_for_change(active.progress(), until_ns);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "base/clock.h"
#include "base/mutex.h"
#include "sandbox/job/device.h"
#include "tools/model/services.h"

namespace assay::server {

class DeviceQueue;

class ActiveJob {
 public:
  struct Progress {
    tools::JobState state = tools::JobState::queued;
    sandbox::Stage stage = sandbox::Stage::queue;
    std::int64_t cases_done = 0, cases_total = 0;  // numbers of cases in the current stage
    sandbox::EngineNote engine;                    // why the job runs again, or none
    std::int64_t finished_ns = 0;                  // a monotonic time; 0 while there is no verdict
    std::shared_ptr<const sandbox::Verdict> verdict;
    bool abandoned = false;  // the server stops, so there will be no verdict

    bool over() const { return verdict != nullptr || abandoned; }
    bool operator==(const Progress&) const = default;
  };

  /// Creates the object. The job's time in the queue begins with this call. The queue and the clock
  /// must outlive this object.
  ActiveJob(sandbox::Job job, DeviceQueue& queue, const Clock& clock);
  ActiveJob(const ActiveJob&) = delete;
  ActiveJob& operator=(const ActiveJob&) = delete;

  const sandbox::Job& job() const { return job_; }
  DeviceQueue& queue() const { return queue_; }
  std::int64_t queued_ns() const { return queued_ns_; }

  Progress progress() const;
  /// Returns why the job lost its worker, and what the engine does while the job waits for one.
  /// `now` is the job's progress.
  sandbox::EngineNote engine_note(const Progress& now) const;
  /// Waits until the progress differs from `seen`, and returns the new progress. Returns nothing if
  /// the monotonic clock reaches `until_ns` first, or if `stop` is requested first.
  std::optional<Progress> wait_for_change(const Progress& seen, std::int64_t until_ns,
                                          std::stop_token stop = {}) const;

  sandbox::JobMonitor& monitor() { return monitor_; }
  void cancel() { stop_.request_stop(); }

  /// Marks the job as running, because a worker has started it.
  void begin();
  /// Stores the verdict in this object and wakes all waiting threads.
  void end(tools::JobState state, sandbox::Verdict verdict);
  /// Wakes all waiting threads without a verdict, because the server stops. In the store, the job
  /// stays unfinished, so that the next server runs it again.
  void abandon();

 private:
  template <class Change>
  void update(Change change);

  const sandbox::Job job_;
  DeviceQueue& queue_;
  const Clock& clock_;
  const std::int64_t queued_ns_;
  std::stop_source stop_;
  sandbox::JobMonitor monitor_{.stop = stop_.get_token()};
  mutable Mutex mutex_;
  mutable Condition changed_;
  Progress progress_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::server
