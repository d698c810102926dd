// StoredJobs runs jobs and keeps them in the store. Each device has a queue (device_queue.h) and
// worker threads, which call Device::execute. submit() returns only after the job is in the store.
// A caller sees a verdict only after the verdict is in the store. Thread-safe. The object does not
// hold its mutex during I/O. The store, the runs and the clock must outlive this object.
//
//   Result<std::string> handle = jobs.submit(alice, std::move(job), run, "");  // the first device
//   Result<tools::JobStatus> status = jobs.wait(alice, *handle, 20'000, nullptr);
//   if (status && status->verdict) show(*status->verdict);
//
// A server that must stop calls refuse_jobs() and wait_until_idle() first, so that accepted jobs
// can end. The destructor cancels the jobs that still run and leaves them unfinished in the store.
// When the next process calls recover(), they are queued again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "sandbox/job/device.h"
#include "server/runs/active_job.h"
#include "server/runs/device_queue.h"
#include "server/runs/ended_jobs.h"
#include "server/runs/run_service.h"
#include "server/runs/verdict_queue.h"
#include "server/runs/verdict_writer.h"
#include "server/store/store.h"
#include "tools/model/services.h"

namespace assay::server {

/// The devices with their names. A job that names no device runs on the first device.
using Devices = std::vector<std::pair<std::string, std::unique_ptr<sandbox::Device>>>;

struct QueueLimits {
  QueueCapacity queued_per_device = {.total = 512, .per_principal = 256};
  std::int64_t attempts = 3;          // recover() aborts a job that it has queued so many times
  std::int64_t max_wait_ms = 60'000;  // the longest time that one call of wait() waits
  // How many times a job is run again after an infrastructure error, such as a judge that died, or
  // after a report of the candidate that it lacked a resource, which the machine may lack. The
  // job then runs again at once and does not return to the queue.
  int repetitions = 1;
  ShareSettings shares = {};
  std::size_t verdicts_to_store = 64;  // verdicts that wait for the disk; then the workers wait
  std::size_t ended_in_memory = 512;   // ended jobs whose verdicts are read without the store
};

/// A job whose verdict is in the store. A function that observes these jobs must not show more of
/// the verdict than public_verdict() does.
struct EndedJob {
  const sandbox::Job& job;
  tools::JobState state;
  const sandbox::Verdict& verdict;
  std::string device;
  std::int64_t end_unix_ms, elapsed_ms;  // the time in the queue is part of elapsed_ms
  double queue_ms;
};
using JobObserver = std::function<void(const EndedJob& ended)>;

struct Recovered {
  std::int64_t requeued = 0;
  std::int64_t aborted = 0;
};

class StoredJobs final : public tools::JobService {
 public:
  StoredJobs(Store& store, StoredRuns& runs, const Clock& clock, Devices devices,
             const QueueLimits& limits, JobObserver observer = nullptr);
  ~StoredJobs() override;
  StoredJobs(const StoredJobs&) = delete;
  StoredJobs& operator=(const StoredJobs&) = delete;

  Result<std::string> submit(const tools::Principal& principal, sandbox::Job job,
                             const std::string& run, const std::string& device) override;
  std::vector<Result<std::string>> submit_all(const tools::Principal& principal,
                                              std::vector<tools::NewJob> jobs) override;
  Result<tools::JobStatus> wait(const tools::Principal& principal, const std::string& job,
                                std::int64_t wait_ms,
                                const std::function<bool(const tools::JobStatus&)>& progress,
                                std::stop_token stop = {}) override;
  Status cancel(const tools::Principal& principal, const std::string& job) override;
  Result<bool> cancel_queued(const tools::Principal& principal, const std::string& job) override;
  Result<tools::JobSource> source(const tools::Principal& principal,
                                  const std::string& job) override;
  std::vector<std::string> devices() const override;

  struct Load {
    std::string device;
    std::int64_t queued = 0, running = 0;
    std::map<std::string, std::int64_t> processes = {};  // Device::processes()
    std::string description = {};                        // of the device
  };
  /// Returns the numbers of waiting and running jobs for each device.
  std::vector<Load> load() const;

  /// A job of a principal that has no verdict yet.
  struct Unfinished {
    tools::JobStatus status;  // without `engine`
    std::string operator_name, device;
    sandbox::JobKind kind = sandbox::JobKind::test;
  };
  /// Returns the queued and running jobs of the principal, sorted by their handles.
  std::vector<Unfinished> unfinished_of(const tools::Principal& principal) const;

  /// Replaces the weights and limits of tokens and runs.
  void set_shares(const ShareSettings& shares);

  /// Makes every later submit() fail with the error `unavailable`, because the server stops. Jobs
  /// that were accepted before go on.
  void refuse_jobs();
  /// Waits until no job is queued or running, and returns true. Returns false if `limit_ms` pass
  /// first, or if `stop` is requested first.
  bool wait_until_idle(std::int64_t limit_ms, std::stop_token stop) const;

  /// Queues the jobs that an earlier process left unfinished, under their handles. Gives the charge
  /// of such a job back, unless the job is a grade: its client may not know the handle, and so may
  /// have to send the call again. Aborts a job if its source cannot be read, if its device no
  /// longer exists, or if it was interrupted too often. Must be called once, before the first
  /// submit(). If the store cannot be written yet, does this later, when it can.
  Result<Recovered> recover();

 private:
  class Storing;
  /// Checks the job, fills its members and reserves a place for it. Returns its queue.
  Result<DeviceQueue*> admit(const tools::Principal& principal, tools::NewJob& offered);
  /// Returns the job of an earlier call that the offered one repeats, or "" if it is a new call.
  Result<std::string> job_of_repeat(const tools::Principal& principal, tools::NewJob& offered);
  /// Waits until no other thread is storing one of these jobs, so that active() finds those that
  /// have not ended.
  void wait_until_stored(const std::vector<std::string>& jobs);
  /// Returns the devices whose grades can be in one run with those of `chosen`.
  std::shared_ptr<const ComparableDevices> comparable_with(const DeviceQueue& chosen) const;
  void work(DeviceQueue& queue);
  void execute(DeviceQueue& queue, const std::shared_ptr<ActiveJob>& job);
  /// Runs the job on the device, and runs it again after an infrastructure error.
  sandbox::Verdict judged(DeviceQueue& queue, ActiveJob& active);
  void announce(ActiveJob& active, sandbox::Verdict verdict);
  /// Ends a job that was removed from its queue.
  void end_queued(ActiveJob& active);
  DeviceQueue* queue_of(const std::string& device) const;
  Status check_accepts_jobs() const;
  Result<Recovered> recover_now();
  /// Recovers the jobs if recover() could not. Error: unavailable if the store cannot be written.
  Status recover_if_pending();
  void add(const std::shared_ptr<ActiveJob>& active);
  /// Returns the job, or null if it has ended or belongs to another principal.
  std::shared_ptr<ActiveJob> active(const tools::Principal& principal,
                                    const std::string& job) const;

  Store& store_;
  StoredRuns& runs_;
  const Clock& clock_;
  const QueueLimits limits_;
  const JobObserver observer_;  // may be null; many threads call it
  VerdictWriter writer_;
  std::vector<std::unique_ptr<DeviceQueue>> queues_;
  std::stop_source stop_;
  /// Held while the jobs of an earlier process are queued, so that only one thread does that.
  Mutex recovery_mutex_;
  bool recovery_pending_ ASSAY_GUARDED_BY(recovery_mutex_) = false;
  mutable Mutex mutex_;
  mutable Condition idle_;  // active_ has become empty
  bool refuses_jobs_ ASSAY_GUARDED_BY(mutex_) = false;
  /// The jobs whose verdict has not been announced yet, by handle.
  std::map<std::string, std::shared_ptr<ActiveJob>> active_ ASSAY_GUARDED_BY(mutex_);
  /// The jobs that threads are storing. They can be in the store and not yet in `active_`.
  std::set<std::string> storing_ ASSAY_GUARDED_BY(mutex_);
  Condition stored_;  // jobs have left storing_
  EndedJobs ended_;
  /// The next two members must be the last ones, so that the destructor joins their threads before
  /// it destroys the other members.
  VerdictQueue verdicts_;
  std::vector<std::jthread> workers_;
};

}  // namespace assay::server
