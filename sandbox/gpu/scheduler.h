// GpuScheduler decides which jobs may use one GPU, and when. It grants two things:
//
// 1. A memory slot. A job reserves a slot before its inputs are put into the GPU's memory, and
// keeps the slot until the job ends. The number of slots bounds the number of jobs that have data
// in the GPU's memory. Slots are granted first come, first served.
// 2. The GPU lock, which is shared or exclusive. Jobs that only check outputs hold the lock shared,
// at most `sharers` jobs at a time. A job that is timed holds the lock exclusively, because the
// kernels of another job would show in the measurement. A job holds the lock only while it uses the
// GPU, and not while it compiles or records.
//
// Every change between shared and exclusive use leaves the GPU idle until the last holder releases
// the lock. So waiters are served in batches. First, up to kExclusiveBatch exclusive waiters get
// the lock one after the other. Then all shared waiters that are in the queue at that time get the
// lock together. Further shared waiters may join this batch until kJoinWindow after its start. So
// no waiter starves. Waiters of one kind are served in the order of their arrival.
//
//   GpuScheduler scheduler({.sharers = 4});
//   Result<GpuScheduler::MemorySlot> memory = scheduler.reserve_memory(deadline);
//   Result<GpuScheduler::Guard> gpu = scheduler.lock_shared(deadline);
//   gpu->release();  // a holder never waits for the other mode: it releases the lock first
//   gpu = scheduler.lock_exclusive(deadline);
//
// A job waits for a judge first (JudgeQueue), then reserves the memory slot, then locks the GPU.
// Thread-safe. The scheduler must outlive everything that it grants.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"
#include "sandbox/pool/fifo_semaphore.h"
#include "sandbox/wire/deadline.h"

namespace assay::sandbox {

class GpuScheduler {
 public:
  enum class Mode { shared, exclusive };

  /// The maximum number of exclusive holders in a row while shared waiters are in the queue.
  static constexpr int kExclusiveBatch = 4;
  /// The time for which more shared waiters may join a shared batch after its start.
  static constexpr std::chrono::milliseconds kJoinWindow{200};

  struct Limits {
    int sharers = 1;  // maximum number of shared holders at a time
    std::chrono::milliseconds join_window = kJoinWindow;
  };

  /// Holds the GPU lock until release() or the destructor.
  class Guard {
   public:
    Guard(GpuScheduler& owner, Mode mode) : owner_(&owner), mode_(mode) {}
    Guard(Guard&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), mode_(other.mode_) {}
    Guard& operator=(Guard&& other) noexcept;
    ~Guard() { release(); }
    void release();
    Mode mode() const { return mode_; }

   private:
    GpuScheduler* owner_;
    Mode mode_;
  };

  using MemorySlot = FifoSemaphore::Slot;

  explicit GpuScheduler(const Limits& limits);

  /// These three functions wait. Errors: cancelled if the job is cancelled; resource_exhausted if
  /// the deadline passes.
  Result<Guard> lock_shared(const Deadline& deadline) { return lock(Mode::shared, deadline); }
  Result<Guard> lock_exclusive(const Deadline& deadline) { return lock(Mode::exclusive, deadline); }
  Result<MemorySlot> reserve_memory(const Deadline& deadline) {
    return memory_slots_.acquire(deadline);
  }
  /// Sets the number of memory slots. The caller calls this function as soon as it knows the size
  /// of the GPU's memory. Before this call, the number of slots is Limits::sharers.
  void set_memory_slots(int slots) { memory_slots_.set_slots(slots); }

  /// Returns the number of calls of lock_shared() or lock_exclusive() that are waiting.
  int waiting(Mode mode) const;
  /// Waits until exactly `count` calls of lock_shared() or lock_exclusive() are waiting. Returns
  /// false if the deadline passes first. Tests use this function to put threads in a defined order.
  bool wait_for_waiters(Mode mode, int count, const Deadline& deadline) const;

 private:
  using Queue = std::deque<std::uint64_t>;  // tickets, oldest first

  Result<Guard> lock(Mode mode, const Deadline& deadline);
  void unlock(Mode mode);
  bool may_enter(std::uint64_t ticket, Mode mode) const ASSAY_REQUIRES(mutex_);
  Queue& queue(Mode mode) ASSAY_REQUIRES(mutex_);
  const Queue& queue(Mode mode) const ASSAY_REQUIRES(mutex_);

  const Limits limits_;
  FifoSemaphore memory_slots_;
  mutable Mutex mutex_;
  mutable Condition changed_;
  Queue shared_queue_ ASSAY_GUARDED_BY(mutex_), exclusive_queue_ ASSAY_GUARDED_BY(mutex_);
  std::uint64_t next_ticket_ ASSAY_GUARDED_BY(mutex_) = 0;
  /// Shared waiters with a ticket below this number get the lock before the next exclusive waiter.
  std::uint64_t shared_batch_end_ ASSAY_GUARDED_BY(mutex_) = 0;
  /// The time until which shared waiters may join the shared batch, by the system's monotonic
  /// clock.
  std::int64_t shared_batch_joinable_until_ns_ ASSAY_GUARDED_BY(mutex_) = 0;
  /// The number of exclusive holders since the last shared batch.
  int exclusive_in_row_ ASSAY_GUARDED_BY(mutex_) = 0;
  int shared_holders_ ASSAY_GUARDED_BY(mutex_) = 0;
  bool exclusive_held_ ASSAY_GUARDED_BY(mutex_) = false;
};

}  // namespace assay::sandbox
