// GpuLock: who has the GPU. Jobs whose answers are only checked share it, up to a bound; a job that
// is timed has it alone: another's kernels, or the judge's, would be in its times. Each change from
// one kind to the other leaves the GPU idle until the last one has gone, so they take turns in
// groups: up to kAloneInRow of those who want it alone, one after the other, then all the sharers
// that wait by then; those who come a moment later join them, since the slowest of them is seldom
// over by then. Neither kind starves the other; among its own, first come, first served.
//
//   GpuLease lease(4);
//   Result<GpuLock::Hold> hold = lease.share(deadline);
//   hold->release();                                // a holder never waits for more: give back,
//   then ask again Result<GpuLock::Hold> timing = lease.alone(deadline);
//
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

#include "base/result.h"
#include "sandbox/wire/deadline.h"

namespace assay::sandbox {

class GpuLock {
 public:
  /// Gives back what it holds when it goes.
  class Hold {
   public:
    Hold(GpuLock& lease, bool alone) : lease_(&lease), alone_(alone) {}
    Hold(Hold&& other) noexcept : lease_(other.lease_), alone_(other.alone_) {
      other.lease_ = nullptr;
    }
    Hold& operator=(Hold&& other) noexcept;
    ~Hold() { release(); }
    void release();
    bool alone() const { return alone_; }

   private:
    GpuLock* lease_;
    bool alone_;
  };

  /// How many have the GPU alone, one after the other, while sharers wait.
  static constexpr int kAloneInRow = 4;

  /// After the sharers' turn has begun, others may join it for so long.
  static constexpr std::chrono::milliseconds kJoin{200};

  explicit GpuLock(int sharers, std::chrono::milliseconds join = kJoin)
      : sharers_(sharers), join_(join) {}

  /// Errors of both: cancelled, resource_exhausted (deadline).
  Result<Hold> share(const Deadline& deadline) { return take(false, deadline); }
  Result<Hold> alone(const Deadline& deadline) { return take(true, deadline); }

 private:
  Result<Hold> take(bool alone, const Deadline& deadline);
  void give_back(bool alone);
  bool may_enter(std::uint64_t number, bool alone) const;  // mutex_ held

  const int sharers_;
  const std::chrono::milliseconds join_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::uint64_t> would_share_,
      would_be_alone_;  // numbers of those who wait, oldest first
  std::uint64_t next_ = 0;
  std::uint64_t sharers_turn_ = 0;  // sharers with lower numbers go before anybody is alone again
  int in_row_ = 0;                  // how many were alone since sharers had their turn
  std::chrono::steady_clock::time_point turn_began_ =
      std::chrono::steady_clock::time_point::min();  // that of the sharers
  int sharing_ = 0;
  bool taken_alone_ = false;
};

}  // namespace assay::sandbox
