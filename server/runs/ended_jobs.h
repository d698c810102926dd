// EndedJobs remembers the jobs that ended last, so that their clients read the verdicts without the
// store, which is busy while it waits for the disk. Thread-safe.
//
//   EndedJobs ended(512);
//   ended.add("alice", status);
//   if (const auto found = ended.find("alice", status.job)) show(*found);
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "tools/model/services.h"

namespace assay::server {

class EndedJobs {
 public:
  /// Remembers `most` jobs.
  explicit EndedJobs(std::size_t most) : most_(most) {}

  void add(const std::string& caller, tools::JobStatus status) {
    const MutexLock lock(mutex_);
    if (most_ == 0 || known_.count(status.job) > 0) return;
    if (order_.size() == most_) {
      known_.erase(order_.front());
      order_.pop_front();
    }
    order_.push_back(status.job);
    known_.emplace(order_.back(), std::pair(caller, std::move(status)));
  }

  /// Returns the job of this caller, or nothing.
  std::optional<tools::JobStatus> find(const std::string& caller, const std::string& job) const {
    const MutexLock lock(mutex_);
    const auto found = known_.find(job);
    if (found == known_.end() || found->second.first != caller) return std::nullopt;
    return found->second.second;
  }

 private:
  const std::size_t most_;
  mutable Mutex mutex_;
  std::deque<std::string> order_ ASSAY_GUARDED_BY(mutex_);  // the oldest first
  /// The callers and the states, by job.
  std::map<std::string, std::pair<std::string, tools::JobStatus>> known_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::server
