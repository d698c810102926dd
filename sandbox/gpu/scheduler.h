// GpuScheduler decides which jobs may use one GPU, and when. It grants two things:
//
// 1. A memory slot. A job reserves a slot before its inputs are put into the GPU's memory, and
// keeps the slot until the job ends. The number of slots bounds the number of jobs that have data
// in the GPU's memory. Slots are granted first come, first served.
// 2. The GPU lock, in one of five modes. A job does not hold the lock while it compiles or
// records.
//
// In the mode `prepare`, a judge makes inputs or computes references for the job. In the mode
// `load`, it does so for the first time for the job's operator. This can take a minute, because the
// judge compiles kernels. In the mode `shared`, launchers run plans whose outputs are only checked,
// at most `sharers` jobs at a time. Holders of these three modes use the GPU together.
//
// In the mode `exclusive`, the job has the GPU alone, because it is timed or needs all of the
// memory. In the mode `host`, code of a submission runs on the GPU and is not timed. Such a job has
// the GPU alone too, except for holders of the mode `load`. If it waited for them, an operator that
// loads for a minute would stop all other jobs, because they wait behind this job.
//
// Every change between exclusive and other use leaves the GPU idle until the last holder releases
// the lock. So waiters are served in batches. First, up to kExclusiveBatch waiters of the modes
// `exclusive` and `host` get the lock one after the other. Then all other waiters that are in the
// queue at that time get the lock together. Waiters that come later may join this batch until
// kJoinWindow after its start. While a holder of the mode `load` has the lock, no exclusive waiter
// can get it, so waiters of the modes `prepare` and `shared` may join for all of this time, unless
// a waiter of the mode `host` waits. So no waiter starves. Waiters of one mode are served in the
// order of their arrival.
//
//   GpuScheduler scheduler({.sharers = 4});
//   Result<GpuScheduler::MemorySlot> memory = scheduler.reserve_memory(deadline);
//   Result<GpuScheduler::Guard> gpu = scheduler.lock(GpuScheduler::Mode::shared, deadline);
//   gpu->release();  // a holder never waits for another mode: it releases the lock first
//   gpu = scheduler.lock(GpuScheduler::Mode::exclusive, deadline);
//
// The log of level trace has a line for each change of the lock. measurements/mcp/gpu_lock.py
// computes from these lines what the GPU does.
//
// A job waits for a judge first (JudgeQueue), then reserves the memory slot, then locks the GPU.
// Thread-safe. The scheduler must outlive everything that it grants.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"
#include "sandbox/pool/fifo_semaphore.h"
#include "sandbox/wire/deadline.h"

namespace assay::sandbox {

class GpuScheduler {
 public:
  enum class Mode { prepare, shared, exclusive, load, host };

  /// The maximum number of holders of the modes `exclusive` and `host` in a row while waiters of
  /// other modes wait.
  static constexpr int kExclusiveBatch = 4;
  /// The time after the start of a batch of waiters of the other modes, in which later waiters may
  /// join the batch.
  static constexpr std::chrono::milliseconds kJoinWindow{200};

  struct Limits {
    int sharers = 1;  // maximum number of holders in the mode `shared` at a time
    std::chrono::milliseconds join_window = kJoinWindow;
    std::string device = {};  // its name in the log
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

  /// lock() and reserve_memory() wait until the job gets the lock or the slot. Errors: cancelled if
  /// the job is cancelled; resource_exhausted if the deadline passes.
  Result<Guard> lock(Mode mode, const Deadline& deadline);
  Result<MemorySlot> reserve_memory(const Deadline& deadline) {
    return memory_slots_.acquire(deadline);
  }
  /// The same for a job that needs more than one slot: waits until no other job has a slot, and
  /// lets no other job have one meanwhile.
  Result<MemorySlot> reserve_all_memory(const Deadline& deadline) {
    return memory_slots_.acquire_all(deadline);
  }
  /// Sets the number of memory slots. The caller calls this function as soon as it knows the size
  /// of the GPU's memory. Before this call, the number of slots is Limits::sharers.
  void set_memory_slots(int slots) { memory_slots_.set_slots(slots); }

  /// Returns the number of calls of lock() that wait for this mode.
  int waiting(Mode mode) const;
  /// Waits until exactly `count` calls of lock() wait for this mode. Returns false if the deadline
  /// passes first. Tests use this function to put threads in a defined order.
  bool wait_for_waiters(Mode mode, int count, const Deadline& deadline) const;

 private:
  struct Waiter {
    std::uint64_t ticket = 0;
    Mode mode = Mode::shared;
  };

  void unlock(Mode mode);
  void trace(const char* event, Mode mode) const ASSAY_REQUIRES(mutex_);
  int waiting_for(Mode mode) const ASSAY_REQUIRES(mutex_);
  bool may_enter(const Waiter& waiter) const ASSAY_REQUIRES(mutex_);
  bool may_enter_alone(const Waiter& waiter) const ASSAY_REQUIRES(mutex_);
  bool batch_waits() const ASSAY_REQUIRES(mutex_);
  bool is_waiting(Mode mode) const ASSAY_REQUIRES(mutex_) { return waiting_for(mode) > 0; }
  int& holders(Mode mode) ASSAY_REQUIRES(mutex_) {
    return holders_[static_cast<std::size_t>(mode)];
  }
  int holders(Mode mode) const ASSAY_REQUIRES(mutex_) {
    return holders_[static_cast<std::size_t>(mode)];
  }

  const Limits limits_;
  FifoSemaphore memory_slots_;
  mutable Mutex mutex_;
  mutable Condition changed_;
  std::deque<Waiter> waiters_ ASSAY_GUARDED_BY(mutex_);  // oldest first
  std::uint64_t next_ticket_ ASSAY_GUARDED_BY(mutex_) = 0;
  /// Waiters with a ticket below this number, except those of the modes `exclusive` and `host`, get
  /// the lock before the next waiter of these two modes.
  std::uint64_t batch_end_ ASSAY_GUARDED_BY(mutex_) = 0;
  /// The time until which later waiters may join the batch, by the system's monotonic clock.
  std::int64_t batch_joinable_until_ns_ ASSAY_GUARDED_BY(mutex_) = 0;
  /// The number of holders of the modes `exclusive` and `host` since the last batch of others.
  int alone_in_row_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::array<int, 5> holders_ ASSAY_GUARDED_BY(mutex_) = {};  // for each mode
};

}  // namespace assay::sandbox
