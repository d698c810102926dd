// FifoSemaphore: a counting semaphore whose waiters are served in the order of their arrival. Each
// wait ends at a deadline or at a stop request.
//
//   FifoSemaphore judge_turn(1, "the judge was busy for all of the time allowed");
//   Result<FifoSemaphore::Slot> slot = judge_turn.acquire(deadline);
//   if (!slot) return fail(slot.error());
//
// Thread-safe. The semaphore outlives its slots.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"
#include "sandbox/wire/deadline.h"

namespace assay::sandbox {

class FifoSemaphore {
 public:
  /// One slot. The destructor releases it.
  class Slot {
   public:
    explicit Slot(FifoSemaphore& owner) : owner_(&owner) {}
    Slot(Slot&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    Slot& operator=(Slot&& other) noexcept {
      if (this == &other) return *this;
      release();
      owner_ = std::exchange(other.owner_, nullptr);
      return *this;
    }
    ~Slot() { release(); }
    void release();

   private:
    FifoSemaphore* owner_;
  };

  /// `busy` is the message of the error at the deadline.
  FifoSemaphore(int slots, std::string busy) : busy_(std::move(busy)), slots_(slots) {}

  /// Errors: cancelled, resource_exhausted (deadline).
  Result<Slot> acquire(const Deadline& deadline);
  /// Changes the number of slots. If there are fewer than before, holders keep theirs.
  void set_slots(int slots);
  /// The number of calls of acquire() that wait.
  int waiting() const;
  /// Waits until exactly `count` calls wait. Returns false at the deadline. Tests order threads by
  /// it.
  bool wait_for_waiters(int count, const Deadline& deadline) const;

 private:
  void release();

  const std::string busy_;
  mutable Mutex mutex_;
  mutable Condition changed_;
  int slots_ ASSAY_GUARDED_BY(mutex_);
  int held_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::uint64_t next_ticket_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::deque<std::uint64_t> queue_ ASSAY_GUARDED_BY(mutex_);  // tickets; the oldest is first
};

}  // namespace assay::sandbox
