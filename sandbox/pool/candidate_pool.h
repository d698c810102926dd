// CandidatePool: candidates parked ahead of the jobs, so that a job starts in microseconds. Owns
// the zygote and restarts it when it dies. With `config.spawn` each candidate is forked from a
// zygote of its own, a fresh process, instead.
//
//   Pool pool(config, spawner);                                    // returns at once; warms up
//   behind Result<std::unique_ptr<Candidate>> candidate = pool.take(job.limits, deadline);
//   ...
//   pool.give_back(std::move(*candidate));                         // its slot is free again
//
// Thread-safe. One thread refills it.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/pool/candidate.h"

namespace assay::sandbox {

struct PoolFacts {
  Versions versions;
  std::vector<Layer> layers;  // of template jail, job jail and cgroup
};

class CandidatePool {
 public:
  CandidatePool(const SandboxConfig& config, Spawner& spawner);
  ~CandidatePool();
  CandidatePool(const CandidatePool&) = delete;
  CandidatePool& operator=(const CandidatePool&) = delete;

  /// A parked candidate, or one forked for these limits. Errors: unavailable (the zygote does not
  /// start; the message says why), resource_exhausted (deadline), cancelled.
  Result<std::unique_ptr<Candidate>> take(const Limits& limits, const Deadline& deadline);
  /// Ends the candidate and frees its slot.
  void give_back(std::unique_ptr<Candidate> candidate);
  /// Known once the first candidate has parked.
  std::optional<PoolFacts> facts() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  void run();
  void start_zygote(Lock& lock);
  Result<std::shared_ptr<Zygote>> fresh_zygote(const Deadline& deadline);
  void park_one(Lock& lock);
  Result<std::unique_ptr<Candidate>> park(Lock& lock, const Limits& limits,
                                          const Deadline& deadline);
  std::unique_ptr<Candidate> pop_parked();
  std::optional<int> free_slot() const;

  const SandboxConfig config_;
  Spawner& spawner_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Zygote> zygote_;
  std::deque<std::unique_ptr<Candidate>> parked_;
  std::set<int> used_slots_;
  std::optional<Error> failure_;  // of the last attempt; cleared by the next success
  std::optional<PoolFacts> facts_;
  int deaths_ = 0;  // of zygotes since a candidate parked
  bool stop_ = false;
  std::stop_source shutdown_;
  std::thread thread_;
};

}  // namespace assay::sandbox
