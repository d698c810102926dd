// LazyCandidatePool is a pool of candidates that starts its processes when it is first used.
//
//   LazyCandidatePool lazy(config, spawner);
//   CandidatePool& pool = lazy.get();
//
// Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "sandbox/pool/candidate_pool.h"

namespace assay::sandbox {

class LazyCandidatePool {
 public:
  /// The spawner must outlive this object.
  LazyCandidatePool(SandboxConfig config, Spawner& spawner)
      : config_(std::move(config)), spawner_(spawner) {}

  /// Returns the pool, which starts with the first call.
  CandidatePool& get() {
    const MutexLock lock(mutex_);
    if (!pool_) pool_ = std::make_unique<CandidatePool>(config_, spawner_);
    return *pool_;
  }
  /// Returns what the first candidate has reported, or nothing before it is parked.
  std::optional<PoolFacts> facts() const {
    const MutexLock lock(mutex_);
    return pool_ ? pool_->facts() : std::nullopt;
  }
  CandidatePool::Counts counts() const {
    const MutexLock lock(mutex_);
    return pool_ ? pool_->counts() : CandidatePool::Counts();
  }

 private:
  const SandboxConfig config_;
  Spawner& spawner_;
  mutable Mutex mutex_;
  /// Created once and never replaced. So a reference to the pool stays valid after the lock is
  /// released.
  std::unique_ptr<CandidatePool> pool_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::sandbox
