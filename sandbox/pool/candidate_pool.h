// CandidatePool keeps forked candidates waiting ("parked") for jobs, so that a job starts in
// microseconds. The pool owns the zygote, and starts a new zygote when the old one ends. With the
// setting `config.spawn`, each candidate gets a zygote of its own, which is a new process.
//
//   CandidatePool pool(config, spawner);  // returns at once; a thread parks candidates
//   Result<std::unique_ptr<Candidate>> candidate = pool.take(job.limits, deadline);
//   if (candidate) pool.give_back(std::move(*candidate));  // its slot is free again
//
// Thread-safe. One thread of the pool starts zygotes and parks candidates. This thread waits for
// one of three events: a call of take() or give_back(), the end of the zygote, or the destruction
// of the pool.
#pragma once

#include <cstdint>
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
#include "sandbox/jail/jail.h"
#include "sandbox/job/config.h"
#include "sandbox/pool/candidate.h"
#include "sandbox/pool/fifo_semaphore.h"

namespace assay::sandbox {

struct PoolFacts {
  Versions versions;
  // Isolation layers of the zygote's jail, the job jail and the cgroup.
  std::vector<LayerReport> layers;
};

class CandidatePool {
 public:
  /// The maximum number of candidates of one pool, including parked candidates.
  static constexpr int kSlots = (kMaxSlots - 64) / 2;
  /// The maximum number of jailed judges of one device, including parked ones. The pools of the
  /// suites share these slots.
  static constexpr int kJudgeSlots = kMaxSlots - 2 * kSlots;

  CandidatePool(const SandboxConfig& config, Spawner& spawner);
  ~CandidatePool();
  /// Returns SandboxConfig::judged_suite, which is empty unless this is a pool of jailed judges.
  const std::string& judged_suite() const { return config_.judged_suite; }
  CandidatePool(const CandidatePool&) = delete;
  CandidatePool& operator=(const CandidatePool&) = delete;

  /// Returns a waiting candidate whose limits are `limits`. Forks a new candidate if no waiting
  /// candidate has these limits. Errors: unavailable if the zygote does not start, and the message
  /// says why; resource_exhausted if the deadline passes; cancelled.
  Result<std::unique_ptr<Candidate>> take(const Limits& limits, const Deadline& deadline);
  /// Waits until the job's candidates may work. At most `config.recording_jobs` jobs hold a slot at
  /// a time. A job holds its slot while its candidates import and compile, but not while it waits
  /// for a judge or for the GPU. Errors: cancelled; resource_exhausted if the deadline passes.
  Result<FifoSemaphore::Slot> begin_work(const Deadline& deadline) {
    return working_.acquire(deadline);
  }
  /// Returns how many of at most `most` candidates can have a processor of their own if each job
  /// that holds a slot has as many. The result is at least 1. A second candidate of a submission
  /// costs processor time, because it repeats the import and what the first compilation of a
  /// process needs. So it helps only while processors are idle. The caller holds a slot.
  int recorders_for(int most) const;
  /// Ends the candidate and frees its slot.
  void give_back(std::unique_ptr<Candidate> candidate);
  /// Waits until the first candidate is parked, and returns the isolation layers of its jail.
  /// Errors: those of take().
  Result<std::vector<LayerReport>> layers(const Deadline& deadline);
  /// Returns the facts that the first candidate reported, or nothing before it is parked.
  std::optional<PoolFacts> facts() const;
  struct Counts {
    std::int64_t parked = 0, used = 0;  // candidates that wait for a job, and that have one
  };
  Counts counts() const;

 private:
  enum class Work { start_zygote, park };
  void run();
  /// Waits until there is work. Returns nothing when the pool is destroyed.
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
  FifoSemaphore working_;
  mutable Mutex mutex_;
  Condition changed_;
  std::shared_ptr<Zygote> zygote_ ASSAY_GUARDED_BY(mutex_);
  std::deque<std::unique_ptr<Candidate>> parked_ ASSAY_GUARDED_BY(mutex_);
  std::set<int> used_slots_ ASSAY_GUARDED_BY(mutex_);
  /// The error of the last attempt to start a zygote or to park a candidate. The next call of
  /// take() clears this error. Without such a call, the pool's thread clears it after a pause and
  /// tries again.
  std::optional<Error> failure_ ASSAY_GUARDED_BY(mutex_);
  std::optional<PoolFacts> facts_ ASSAY_GUARDED_BY(mutex_);
  // Number of zygotes that have ended during a fork since a candidate was last parked.
  int deaths_ ASSAY_GUARDED_BY(mutex_) = 0;
  // True once the cgroups of dead supervisors are removed. Only the pool's thread uses this field.
  bool swept_ = false;
  std::stop_source shutdown_;
  std::thread thread_;
};

}  // namespace assay::sandbox
