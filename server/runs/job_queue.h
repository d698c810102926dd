// JobQueue orders the jobs that wait for one device, and estimates their waits. Runs take turns;
// within a run, jobs keep their order. So a run with a hundred queued jobs delays another run's
// first job by one job, not by a hundred. Not thread-safe.
//
//   JobQueue queue(2);                                       // the device runs two jobs at once
//   queue.push("run_a", "job_1");
//   queue.push("run_a", "job_2");
//   queue.push("run_b", "job_3");
//   queue.pop();                                             // job_1, then job_3, then job_2
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <string>

namespace assay::server {

class JobQueue {
 public:
  /// `workers`: jobs that the device runs at once, at least 1.
  explicit JobQueue(int workers) : workers_(workers) {}

  void push(const std::string& run, const std::string& job);
  std::optional<std::string> pop();
  /// False if the job is not in the queue.
  bool remove(const std::string& job);
  /// 1 for the next job to be popped; 0 if the job is not in the queue.
  std::size_t position(const std::string& job) const;
  std::size_t size() const { return size_; }

  /// Adds a finished job's time to the estimate. The newest jobs weigh most.
  void add_duration(std::int64_t job_ms);
  /// Estimates when a job at `position` (from 1) starts. Empty until the first job has ended. For
  /// people and agents only; no decision depends on it.
  std::optional<std::int64_t> expected_wait_ms(std::size_t position) const;

 private:
  struct Turn {
    std::string run;
    std::deque<std::string> jobs;  // never empty
  };

  const int workers_;
  std::list<Turn> turns_;  // the next run to be served is first
  std::size_t size_ = 0;
  std::optional<double> mean_ms_;
};

}  // namespace assay::server
