// CandidatePool keeps candidates parked ahead of the jobs, so that a job starts in microseconds. It
// owns the zygote and starts it again when it ends. With `config.spawn` each candidate has a zygote
// of its own, a new process.
//
//   CandidatePool pool(config, spawner);  // returns at once; a thread parks candidates
//   Result<std::unique_ptr<Candidate>> candidate = pool.take(job.limits, deadline);
//   if (candidate) pool.give_back(std::move(*candidate));  // its slot is free again
//
// Thread-safe. One thread of the pool starts zygotes and parks candidates. It waits for events: a
// call, the end of the zygote, or the end of the pool.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/pool/candidate.h"

namespace assay::sandbox {

struct PoolFacts {
  Versions versions;
  std::vector<LayerReport> layers;  // layers of the template jail, the job jail and the cgroup
};

class CandidatePool {
 public:
  CandidatePool(const SandboxConfig& config, Spawner& spawner);
  ~CandidatePool();
  CandidatePool(const CandidatePool&) = delete;
  CandidatePool& operator=(const CandidatePool&) = delete;

  /// Returns a parked candidate, or one forked for these limits. Errors: unavailable (the zygote
  /// does not start; the message says why), resource_exhausted (deadline), cancelled.
  Result<std::unique_ptr<Candidate>> take(const Limits& limits, const Deadline& deadline);
  /// Ends the candidate and frees its slot.
  void give_back(std::unique_ptr<Candidate> candidate);
  /// Returns nothing until the first candidate has parked.
  std::optional<PoolFacts> facts() const;

 private:
  enum class Work { start_zygote, park };
  void run();
  /// Waits until there is work. Returns nothing when the pool ends.
  std::optional<Work> next_work();
  void start_zygote();
  Result<std::shared_ptr<Zygote>> fresh_zygote(const Deadline& deadline);
  void park_one();
  Result<std::unique_ptr<Candidate>> park(const Limits& limits, const Deadline& deadline);
  bool lacks_candidates() const ASSAY_REQUIRES(mutex_);
  std::unique_ptr<Candidate> pop_parked() ASSAY_REQUIRES(mutex_);
  std::optional<int> free_slot() const ASSAY_REQUIRES(mutex_);

  const SandboxConfig config_;
  Spawner& spawner_;
  mutable Mutex mutex_;
  Condition changed_;
  std::shared_ptr<Zygote> zygote_ ASSAY_GUARDED_BY(mutex_);
  std::deque<std::unique_ptr<Candidate>> parked_ ASSAY_GUARDED_BY(mutex_);
  std::set<int> used_slots_ ASSAY_GUARDED_BY(mutex_);
  /// The error of the last attempt. A success or a new caller of take() clears it.
  std::optional<Error> failure_ ASSAY_GUARDED_BY(mutex_);
  std::optional<PoolFacts> facts_ ASSAY_GUARDED_BY(mutex_);
  int deaths_ ASSAY_GUARDED_BY(mutex_) = 0;  // deaths of zygotes since a candidate parked
  bool swept_ = false;  // the control groups of dead supervisors are removed; for the thread only
  std::stop_source shutdown_;
  std::thread thread_;
};

}  // namespace assay::sandbox
