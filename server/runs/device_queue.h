// DeviceQueue contains the jobs that wait for one device. Workers take jobs from the queue with
// pop(). remove() removes a job that no worker has taken yet. JobQueue determines the order of the
// jobs. DeviceQueue is thread-safe.
//
//   DeviceQueue queue("cpu", std::move(device), 256);
//   if (const Status reserved = queue.reserve(); !reserved) return reserved;  // the queue is full
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
#include <list>
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

namespace assay::server {

/// Orders the jobs that wait for one device, and estimates how long they wait. A client is a run
/// or, for practice, a caller. Waiting clients get equal shares of the device's time, not equal
/// numbers of jobs. So a client with short jobs does not have to wait for a long job of another
/// client before each of its jobs. A client's own jobs keep their order.
///
/// The algorithm is fair queuing by virtual time. Each client has a virtual time up to which it was
/// served, and the client with the earliest time is served next. When a job is taken, the client's
/// time advances by the mean duration of jobs of this kind. When the job has ended, its real
/// duration corrects the client's time. The queue has a virtual time too. When a job is taken, the
/// queue's time is first raised to the time of the job's client, if that time is later. Then it
/// advances by the same mean duration, divided by the number of waiting clients. A new client
/// starts at the queue's time. A client that was already served beyond the queue's time starts at
/// its own time. So a client gets no credit for the time in which it had no jobs. And new clients,
/// however many, do not keep an earlier client waiting. Not thread-safe.
///
///   JobQueue queue(2);  // the device runs two jobs at once
///   queue.push("run_a", {"job_1", sandbox::JobKind::test});
///   queue.push("run_a", {"job_2", sandbox::JobKind::test});
///   queue.push("run_b", {"job_3", sandbox::JobKind::test});
///   queue.pop();  // job_1, then job_3, then job_2
class JobQueue {
 public:
  struct Waiting {
    std::string job;
    sandbox::JobKind kind;
  };

  /// `workers` is the number of jobs that the device runs simultaneously. It must be at least 1.
  explicit JobQueue(int workers) : workers_(workers) {}

  void push(const std::string& client, Waiting waiting);
  std::optional<std::string> pop();
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
  /// of job, in which newer jobs have more weight. Also corrects the client's virtual time: pop()
  /// had advanced it by the mean instead of the real duration.
  void add_duration(const std::string& client, sandbox::JobKind kind, std::int64_t job_ms);
  /// Returns the number of clients without waiting jobs whose virtual times the queue remembers. It
  /// is 0 if no job waits.
  std::size_t remembered() const { return ahead_.size(); }

 private:
  struct Client {
    std::string name;
    double served_ms;
    std::deque<Waiting> jobs;  // never empty
  };

  std::optional<Waiting> take();
  void drop(std::list<Client>::iterator client);
  double expected_ms(sandbox::JobKind kind) const;
  std::optional<std::int64_t> shared_among_workers(double ms) const;

  const int workers_;
  // The clients with waiting jobs. A client is added at the end, and moves to the end when one of
  // its jobs is taken.
  std::list<Client> clients_;
  std::size_t size_ = 0;
  double now_ms_ = 0;  // the time at which a new client starts
  // The virtual times of clients without waiting jobs, by client. A time that is not later than
  // now_ms_ has no effect, because such a client starts at now_ms_. drop() removes these times.
  std::map<std::string, double> ahead_;
  std::map<sandbox::JobKind, double> mean_ms_;
};

/// A device and the jobs that wait for it.
class DeviceQueue {
 public:
  /// `capacity` is the maximum number of waiting jobs. Running jobs do not count.
  DeviceQueue(std::string name, std::unique_ptr<sandbox::Device> device, std::size_t capacity);

  const std::string& name() const { return name_; }
  sandbox::Device& device() const { return *device_; }
  int workers() const { return workers_; }

  /// Reserves a place in the queue for a job that is about to be stored. After that, push() uses
  /// the reservation, or release() cancels it. Returns an error if the queue is full. The message
  /// contains the queue's length and the expected wait.
  Status reserve();
  void release();
  void push(const std::shared_ptr<ActiveJob>& job);
  /// Adds a job that an earlier process left unfinished. Needs no reservation, and works even if
  /// the queue is full.
  void push_recovered(const std::shared_ptr<ActiveJob>& job);
  /// Waits for a job and marks it as running. Returns null when `stop` is requested.
  std::shared_ptr<ActiveJob> pop(const std::stop_token& stop);
  /// Removes a job. Returns false if the job is not in the queue, for example because a worker has
  /// taken it.
  bool remove(const std::string& job);
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
  void add(const std::shared_ptr<ActiveJob>& job) ASSAY_REQUIRES(mutex_);

  const std::string name_;
  const std::unique_ptr<sandbox::Device> device_;
  const int workers_;
  const std::size_t capacity_;
  mutable Mutex mutex_;
  Condition pushed_;
  JobQueue queue_ ASSAY_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<ActiveJob>> waiting_ ASSAY_GUARDED_BY(mutex_);
  std::size_t reserved_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::int64_t running_ ASSAY_GUARDED_BY(mutex_) = 0;
};

}  // namespace assay::server
