// InputGroups gives the evaluations of a group the same secret, from which the judge derives their
// inputs. A client learns from a verdict what the inputs were, so the group must get other inputs
// afterwards: once a verdict of a group has been read, the next evaluation of the group begins a
// new generation. So each source of a generation was chosen before any result of the generation was
// known, and no source can contain the right outputs.
//
//   InputGroups groups(clock);
//   const std::string secret = groups.secret_of("alice", "step 7, task 3", "job_1");
//   groups.note_read("job_1");  // "job_1" has a verdict, and its owner has read it
//
// WatchedJobs calls note_read() for every verdict that anybody reads through the services.
// Both are thread-safe. The secrets are kept in memory only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "tools/model/services.h"

namespace assay::server {

class InputGroups {
 public:
  static constexpr std::size_t kMostGroups = 65'536;  // the one unused for longest is forgotten
  /// The most jobs of all open generations. With one more, the generation unused for longest ends.
  static constexpr std::size_t kMostJobs = 262'144;

  explicit InputGroups(const Clock& clock) : clock_(clock) {}

  /// Returns the secret of the group's generation, and adds the job to the generation.
  std::string secret_of(const std::string& principal, const std::string& group,
                        const std::string& job);
  /// Removes a job that was not accepted, so it has no verdict that anybody could read.
  void forget(const std::string& job);
  /// Ends the generation of the job, if the job belongs to one.
  void note_read(const std::string& job);
  /// Returns the number of jobs of open generations.
  std::size_t jobs() const;
  /// Ends all generations of a principal, who has read the verdicts of all of its jobs.
  void note_all_read(const std::string& principal);

 private:
  using Key = std::pair<std::string, std::string>;  // principal and group
  struct Generation {
    std::string secret;
    std::set<std::string> jobs;
    std::int64_t used_ns = 0;
  };
  void end(const Key& key) ASSAY_REQUIRES(mutex_);
  void end_oldest() ASSAY_REQUIRES(mutex_);

  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<Key, Generation> open_ ASSAY_GUARDED_BY(mutex_);
  std::map<std::string, Key> groups_ ASSAY_GUARDED_BY(mutex_);  // by job, of open generations
};

/// A JobService that notes each verdict that is read.
class WatchedJobs final : public tools::JobService {
 public:
  WatchedJobs(tools::JobService& jobs, InputGroups& groups) : jobs_(jobs), groups_(groups) {}

  Result<std::string> submit(const tools::Principal& principal, sandbox::Job job,
                             const std::string& run, const std::string& device) override {
    return jobs_.submit(principal, std::move(job), run, device);
  }
  std::vector<Result<std::string>> submit_all(const tools::Principal& principal,
                                              std::vector<tools::NewJob> jobs) override {
    return jobs_.submit_all(principal, std::move(jobs));
  }
  Result<tools::JobStatus> wait(const tools::Principal& principal, const std::string& job,
                                std::int64_t wait_ms,
                                const std::function<bool(const tools::JobStatus&)>& progress,
                                std::stop_token stop) override {
    Result<tools::JobStatus> status =
        jobs_.wait(principal, job, wait_ms, progress, std::move(stop));
    if (status && status->verdict) groups_.note_read(job);
    return status;
  }
  Status cancel(const tools::Principal& principal, const std::string& job) override {
    return jobs_.cancel(principal, job);
  }
  Result<bool> cancel_queued(const tools::Principal& principal, const std::string& job) override {
    return jobs_.cancel_queued(principal, job);
  }
  Result<tools::JobSource> source(const tools::Principal& principal,
                                  const std::string& job) override {
    return jobs_.source(principal, job);
  }
  std::vector<std::string> devices() const override { return jobs_.devices(); }

 private:
  tools::JobService& jobs_;
  InputGroups& groups_;
};

}  // namespace assay::server
