// WaitingJobs is the queue of the jobs of one pool that wait for a worker. It decides which job
// gets which worker next.
//
//   WaitingJobs waiting;
//   const std::int64_t ticket = waiting.add({.alone = false, .batch = false});
//   if (const auto worker = waiting.worker_for(ticket, workers, needed)) waiting.remove(ticket);
//
// A job that must run alone needs a worker without other jobs. While there is none, one worker is
// emptied for it: this worker gets no other job, and the jobs behind go on to the other workers. So
// nobody starves: the jobs of the emptied worker end, only one worker is emptied at a time, and a
// job that must run alone gets its turn only after all jobs that are before it in the queue.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "server/workers/placement.h"

namespace assay::server {

/// So many jobs of waiting clients go before a batch job that came earlier; then it is next.
inline constexpr int kMostPasses = 16;

class WaitingJobs {
 public:
  struct Kind {
    bool alone = false;  // the worker must have no other job meanwhile
    bool batch = false;  // nobody waits for it (Job::batch)
  };

  /// Adds a job and returns its ticket. It comes last, except that it passes batch jobs, unless
  /// those must run alone.
  std::int64_t add(Kind kind);
  /// Removes a job that got a worker or waits no longer.
  void remove(std::int64_t ticket);
  /// Returns false if the job has to wait for others, whatever the workers do.
  bool may_be_next(std::int64_t ticket) const;
  /// Returns the index of the worker that the job gets now, or nothing if it has to wait. `needed`
  /// is the number of workers that the pool needs (placement.h).
  std::optional<std::size_t> worker_for(std::int64_t ticket, std::vector<WorkerLoad> workers,
                                        std::int64_t needed);

  bool empty() const { return jobs_.empty(); }
  std::int64_t size() const { return static_cast<std::int64_t>(jobs_.size()); }
  /// Returns how many slots the jobs take. A job that must run alone takes all slots of a worker.
  std::int64_t slots(std::int64_t of_a_worker) const;

 private:
  struct Job {
    std::int64_t ticket;
    Kind kind;
    int passed = 0;  // by so many jobs that came later
  };

  /// Returns true if this is the first job that need not run alone.
  bool is_first_shared(std::int64_t ticket) const;
  /// Returns the index of the worker that is emptied for the first job, if there is one.
  std::optional<std::size_t> choose_emptied(const std::vector<WorkerLoad>& workers);

  std::deque<Job> jobs_;
  std::int64_t next_ticket_ = 0;
  // The number of the worker that is emptied for the first job, which must run alone.
  std::optional<std::int64_t> emptied_;
};

}  // namespace assay::server
