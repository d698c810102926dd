// GpuLease: who has the GPU. Jobs whose answers are only checked share it, up to a bound; a job that is timed has it alone: another's kernels, or the judge's, would be
// in its times. First come, first served, so neither kind starves the other.
//
//   GpuLease lease(4);
//   Result<GpuLease::Hold> hold = lease.share(deadline);
//   hold->release();                                // a holder never waits for more: give back, then ask again
//   Result<GpuLease::Hold> timing = lease.alone(deadline);
//
// Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

#include "base/result.h"
#include "sandbox/wire/deadline.h"

namespace assay::sandbox {

class GpuLease {
 public:
  /// Gives back what it holds when it goes.
  class Hold {
   public:
    Hold(GpuLease& lease, bool alone) : lease_(&lease), alone_(alone) {}
    Hold(Hold&& other) noexcept : lease_(other.lease_), alone_(other.alone_) { other.lease_ = nullptr; }
    Hold& operator=(Hold&& other) noexcept;
    ~Hold() { release(); }
    void release();
    bool alone() const { return alone_; }

   private:
    GpuLease* lease_;
    bool alone_;
  };

  explicit GpuLease(int sharers) : sharers_(sharers) {}

  /// Errors of both: cancelled, resource_exhausted (deadline).
  Result<Hold> share(const Deadline& deadline) { return take(false, deadline); }
  Result<Hold> alone(const Deadline& deadline) { return take(true, deadline); }

 private:
  Result<Hold> take(bool alone, const Deadline& deadline);
  void give_back(bool alone);

  const int sharers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::uint64_t> queue_;  // who waits, oldest first
  std::uint64_t next_ = 0;
  int sharing_ = 0;
  bool taken_alone_ = false;
};

}  // namespace assay::sandbox
