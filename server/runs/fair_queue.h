// The order in which waiting jobs get a device: the runs take turns, and within a run the first
// comes first. So a run that queues a hundred jobs delays another run's first by one job, not by a
// hundred. Not thread-safe; the job service guards it.
//
//   queue.push("run_a", "job_1"); queue.push("run_a", "job_2"); queue.push("run_b", "job_3");
//   queue.pop()  ->  job_1, then job_3, then job_2
#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <utility>

namespace assay::server {

class FairQueue {
 public:
  void push(const std::string& run, const std::string& job);
  std::optional<std::string> pop();
  /// False when it is not here.
  bool remove(const std::string& job);
  /// 1 for the next to be popped; 0 when it is not here.
  std::size_t position(const std::string& job) const;
  std::size_t size() const { return size_; }
  std::size_t size_of(const std::string& run) const;

 private:
  struct Lane {
    std::string run;
    std::deque<std::string> jobs;  // never empty
  };
  std::list<Lane> lanes_;  // whose turn it is stands first
  std::size_t size_ = 0;
};

}  // namespace assay::server
