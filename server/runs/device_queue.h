// DeviceQueue contains the jobs that wait for one device. Workers take jobs from the queue with
// pop(). remove() removes a job that no worker has taken yet. JobQueue determines the order of the
// jobs. DeviceQueue is thread-safe.
//
//   DeviceQueue queue("cpu", std::move(device), {.total = 512, .per_principal = 256});
//   if (const Status reserved = queue.reserve({"alice", ""}); !reserved)
//     return reserved;  // full
//   queue.push(active);
//   while (const std::shared_ptr<ActiveJob> next = queue.pop(stop))
//     queue.device().execute(next->job(), next->monitor());
//
// Lock order: a thread that holds the mutex of the queue may lock the mutex of a job. A thread that
// holds the mutex of a job must not lock that of the queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "sandbox/job/device.h"
#include "sandbox/job/job.h"
#include "server/runs/active_job.h"
#include "server/runs/fair_shares.h"
#include "server/runs/share_settings.h"

namespace assay::server {

/// The part of the device's time from which a job takes. The principals share the time by their
/// weights, and the runs of a principal share the principal's part by theirs (share_settings.h).
/// All jobs of a principal without a run have one part together. So a principal gets no larger part
/// by starting more runs.
struct Share {
  std::string principal;  // empty if the server has no tokens
  std::string run;        // empty: practice without a run
};

/// Orders the jobs that wait for one device by the shares of principals and runs (fair_shares.h),
/// and estimates how long the jobs wait. Jobs of the same share and priority keep their order. Not
/// thread-safe.
///
///   JobQueue queue(2);  // the device runs two jobs at once
///   queue.push({"alice", "run_a"}, {"job_1", sandbox::JobKind::test});
///   queue.push({"alice", "run_b"}, {"job_2", sandbox::JobKind::test});
///   queue.push({"bob", ""}, {"job_3", sandbox::JobKind::test});
///   queue.pop();  // job_1, then job_3, then job_2
class JobQueue {
 public:
  struct Waiting {
    std::string job;
    sandbox::JobKind kind;
    int priority = 0;    // within the share, a job with a higher number is run first
    bool batch = false;  // no client waits for it (Job::batch)
  };
  /// Says whether a job may be taken now. Null: every job may.
  using Fits = std::function<bool(const Share& share, bool batch)>;

  /// `workers` is the number of jobs that the device runs simultaneously. It must be at least 1.
  explicit JobQueue(int workers) : workers_(workers) {}

  /// The weights of later jobs.
  void set_weights(ShareSettings settings) { settings_ = std::move(settings); }
  void push(const Share& share, Waiting waiting);
  /// Takes the next of the jobs that fit. Returns nothing if there is none.
  std::optional<std::string> pop(const Fits& fits = nullptr);
  bool has(const Fits& fits) const;
  /// Removes a job. Returns false if the job is not in the queue.
  bool remove(const std::string& job);
  std::size_t size() const { return size_; }

  struct Place {
    std::size_t position = 0;  // 1: pop() returns the job next; 0: the job is not in the queue
    /// An estimate of the job's wait, for display only: the expected durations of the jobs before
    /// it and of the job itself, divided by the number of workers. Empty until the first job has
    /// ended.
    std::optional<std::int64_t> wait_ms;
  };
  Place place_of(const std::string& job) const;
  /// Estimates how long a job would wait if all jobs of the queue ran before it.
  std::optional<std::int64_t> wait_of_all_ms() const;

  /// Must be called with the duration of each finished job. Updates the mean duration of this kind
  /// of job, in which newer jobs have more weight. Also corrects the times of the share's principal
  /// and run: pop() had charged them the mean instead of the real duration.
  void add_duration(const Share& share, sandbox::JobKind kind, std::int64_t job_ms);
  /// Returns the number of principals without waiting jobs that the queue remembers.
  std::size_t remembered() const { return principals_.remembered(); }

 private:
  /// The waiting jobs of one principal, by run. No list is empty.
  struct Lane {
    FairShares runs;
    std::map<std::string, std::deque<Waiting>> jobs;
  };

  /// Returns the first job of the list that fits.
  static std::deque<Waiting>::const_iterator first_fit(const std::deque<Waiting>& jobs,
                                                       const Share& share, const Fits& fits);
  /// Returns the principal and the run whose job is next.
  std::optional<Share> next(const Fits& fits) const;
  std::optional<Waiting> take(const Fits& fits = nullptr);
  double expected_ms(sandbox::JobKind kind) const;
  std::optional<std::int64_t> shared_among_workers(double ms) const;

  const int workers_;
  ShareSettings settings_;
  FairShares principals_;
  std::map<std::string, Lane> lanes_;  // by principal; no lane is empty
  std::size_t size_ = 0;
  std::map<sandbox::JobKind, double> mean_ms_;
};

/// The maximum numbers of jobs that wait for one device. Running jobs do not count.
struct QueueCapacity {
  std::size_t total = 0;
  /// The most waiting jobs of one principal. Does not apply to the empty principal of a server
  /// without tokens, because such a server cannot tell its clients apart.
  std::size_t per_principal = 0;
};

/// A device and the jobs that wait for it.
class DeviceQueue {
 public:
  DeviceQueue(std::string name, std::unique_ptr<sandbox::Device> device, QueueCapacity capacity,
              ShareSettings shares = {});

  const std::string& name() const { return name_; }
  sandbox::Device& device() const { return *device_; }
  int workers() const { return workers_; }

  /// Reserves a place in the queue for a job that is about to be stored. After that, push() uses
  /// the reservation, or release() cancels it. Returns an error if the queue is full, or if the
  /// principal or the run has too many jobs in it. The message contains the number of jobs and the
  /// expected wait.
  Status reserve(const Share& share);
  void release(const Share& share);
  void push(const std::shared_ptr<ActiveJob>& job);
  /// Adds a job that an earlier process left unfinished. Needs no reservation, and works even if
  /// the queue is full.
  void push_recovered(const std::shared_ptr<ActiveJob>& job);
  /// Waits for a job and marks it as running. Returns null when `stop` is requested.
  std::shared_ptr<ActiveJob> pop(const std::stop_token& stop);
  /// Removes a job. Returns false if the job is not in the queue, for example because a worker has
  /// taken it.
  bool remove(const std::string& job);
  /// Replaces the weights and limits. Weights hold for jobs that are queued later.
  void set_shares(ShareSettings shares);
  /// Must be called when a job from pop() has ended. `job_ms` is the time in milliseconds for which
  /// the device worked on the job.
  void ended(const sandbox::Job& job, std::int64_t job_ms);

  struct Place {
    std::int64_t position = 0;  // counted from 1; 0: not in the queue
    std::optional<std::int64_t> expected_wait_ms;
  };
  Place place_of(const std::string& job) const;

  struct Load {
    std::int64_t queued = 0, running = 0;
  };
  Load load() const;

 private:
  /// Numbers of jobs. No number is 0. An empty name of a token or a run is not counted.
  struct Counts {
    std::map<std::string, std::size_t> tokens, runs;

    void add(const Share& share);
    void remove(const Share& share);
    std::size_t of_token(const std::string& name) const;
    std::size_t of_run(const std::string& name) const;
  };

  void add(const std::shared_ptr<ActiveJob>& job) ASSAY_REQUIRES(mutex_);
  /// Says whether a place of the device is free for a job of this share.
  bool may_run(const Share& share, bool batch) const ASSAY_REQUIRES(mutex_);

  const std::string name_;
  const std::unique_ptr<sandbox::Device> device_;
  const int workers_;
  const QueueCapacity capacity_;
  mutable Mutex mutex_;
  Condition pushed_;
  JobQueue queue_ ASSAY_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<ActiveJob>> waiting_ ASSAY_GUARDED_BY(mutex_);
  std::size_t reserved_ ASSAY_GUARDED_BY(mutex_) = 0;
  ShareSettings shares_ ASSAY_GUARDED_BY(mutex_);
  Counts waiting_counts_ ASSAY_GUARDED_BY(mutex_);  // waiting jobs and reservations
  Counts running_counts_ ASSAY_GUARDED_BY(mutex_);
  std::int64_t running_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::int64_t running_batch_ ASSAY_GUARDED_BY(mutex_) = 0;
};

}  // namespace assay::server
