// FifoSemaphore is a counting semaphore that serves its waiters in the order of their arrival. A
// wait also ends when its deadline passes or when a stop is requested.
//
//   FifoSemaphore judge_turn(1, "the judge was busy for all of the time allowed");
//   Result<FifoSemaphore::Slot> slot = judge_turn.acquire(deadline);
//   if (!slot) return fail(slot.error());
//
// Thread-safe. The semaphore must outlive its slots.
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
  /// One acquired slot, or all of them. Its destructor releases what it holds.
  class Slot {
   public:
    explicit Slot(FifoSemaphore& owner, int count = 1) : owner_(&owner), count_(count) {}
    Slot(Slot&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), count_(other.count_) {}
    Slot& operator=(Slot&& other) noexcept {
      if (this == &other) return *this;
      release();
      owner_ = std::exchange(other.owner_, nullptr);
      count_ = other.count_;
      return *this;
    }
    ~Slot() { release(); }
    void release();

   private:
    FifoSemaphore* owner_;
    int count_;
  };

  /// `slots` is the number of slots. `busy` is the error message when a deadline passes.
  FifoSemaphore(int slots, std::string busy) : busy_(std::move(busy)), slots_(slots) {}

  /// Waits for a free slot. Errors: cancelled; resource_exhausted if the deadline passes.
  Result<Slot> acquire(const Deadline& deadline) { return acquire(deadline, false); }
  /// Waits until nobody holds a slot, and takes all of them. Later callers wait meanwhile.
  Result<Slot> acquire_all(const Deadline& deadline) { return acquire(deadline, true); }
  /// Changes the number of slots. If the new number is smaller, slots that are already held stay
  /// valid.
  void set_slots(int slots);
  /// The number of slots that are held.
  int held() const;
  /// The number of calls of acquire() that are waiting.
  int waiting() const;
  /// Waits until exactly `count` calls of acquire() are waiting. Returns false if the deadline
  /// passes first. Tests use this function to put threads in a defined order.
  bool wait_for_waiters(int count, const Deadline& deadline) const;

 private:
  Result<Slot> acquire(const Deadline& deadline, bool all);
  void release(int count);

  const std::string busy_;
  mutable Mutex mutex_;
  mutable Condition changed_;
  int slots_ ASSAY_GUARDED_BY(mutex_);
  int held_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::uint64_t next_ticket_ ASSAY_GUARDED_BY(mutex_) = 0;
  // Tickets of the waiting calls, oldest first.
  std::deque<std::uint64_t> queue_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::sandbox
