// GpuScheduler decides which jobs may use one GPU, and when. It hands out three things:
//
// 1. A memory slot. A job takes one before its inputs go into the GPU's memory and keeps it until
//    its end. The slots bound the number of jobs that have data there. First come, first served.
// 2. The GPU lock, shared or exclusive. Jobs that only check answers hold it shared, at most
//    `sharers` at a time. A job that is timed holds it exclusively, because the kernels of another
//    job would show in the measurement. A job holds the lock only while the GPU works for it, so
//    not while it compiles or records.
// 3. A judge. All jobs of one operator get the same judge, because PyTorch is slow the first time
//    that it runs an operator. A new operator gets the judge with the fewest jobs at work, so that
//    agents that go through the operators together do not all wait for one judge.
//
// Every change between shared and exclusive use leaves the GPU idle until the last holder is done.
// So waiters are served in batches: up to kExclusiveBatch exclusive holders, one after the other,
// then every shared waiter that is in the queue by then. Another shared waiter may join that batch
// for kJoinWindow after its begin. Both kinds make progress. Within a kind the order is first come,
// first served.
//
//   GpuScheduler scheduler({.sharers = 4, .judges = 2});
//   Result<GpuScheduler::MemorySlot> memory = scheduler.reserve_memory(deadline);
//   Result<GpuScheduler::Guard> gpu = scheduler.lock_shared(deadline);
//   const GpuScheduler::JudgeGuard judge = scheduler.assign_judge("softmax");
//   gpu->release();  // a holder never waits for the other mode: it releases the lock first
//   gpu = scheduler.lock_exclusive(deadline);
//
// Order: a job takes the memory slot first, then the lock, then the judge. Thread-safe. The
// scheduler outlives everything that it hands out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "sandbox/pool/fifo_semaphore.h"
#include "sandbox/wire/deadline.h"

namespace assay::sandbox {

class GpuScheduler {
 public:
  enum class Mode { shared, exclusive };

  /// The most exclusive holders in a row while shared waiters are in the queue.
  static constexpr int kExclusiveBatch = 4;
  /// A newcomer may join a shared batch for this time after its begin.
  static constexpr std::chrono::milliseconds kJoinWindow{200};

  struct Limits {
    int sharers = 1;  // shared holders at a time
    int judges = 1;
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

  /// Counts as a job of the judge `index()` until the destructor.
  class JudgeGuard {
   public:
    JudgeGuard(GpuScheduler& owner, std::size_t index) : owner_(owner), index_(index) {}
    JudgeGuard(const JudgeGuard&) = delete;
    JudgeGuard& operator=(const JudgeGuard&) = delete;
    ~JudgeGuard() { owner_.leave_judge(index_); }
    std::size_t index() const { return index_; }

   private:
    GpuScheduler& owner_;
    const std::size_t index_;
  };

  explicit GpuScheduler(const Limits& limits);

  /// These three functions wait. Errors: cancelled, resource_exhausted at the deadline.
  Result<Guard> lock_shared(const Deadline& deadline) { return lock(Mode::shared, deadline); }
  Result<Guard> lock_exclusive(const Deadline& deadline) { return lock(Mode::exclusive, deadline); }
  Result<MemorySlot> reserve_memory(const Deadline& deadline) {
    return memory_slots_.acquire(deadline);
  }
  /// Sets the number of memory slots, once the size of the memory is known. Until then it is the
  /// number of sharers.
  void set_memory_slots(int slots) { memory_slots_.set_slots(slots); }

  /// Assigns a judge at once.
  JudgeGuard assign_judge(const std::string& operator_name);

  /// Returns the number of calls of lock_shared() or lock_exclusive() that wait.
  int waiting(Mode mode) const;
  /// Waits until exactly `count` calls wait. Tests order their threads with it. Returns false at
  /// the deadline.
  bool wait_for_waiters(Mode mode, int count, const Deadline& deadline) const;

 private:
  using Queue = std::deque<std::uint64_t>;  // tickets, the oldest first
  struct JudgeLoad {
    int jobs = 0;       // at work
    int operators = 0;  // assigned to this judge
  };

  Result<Guard> lock(Mode mode, const Deadline& deadline);
  void unlock(Mode mode);
  void leave_judge(std::size_t index);
  bool may_enter(std::uint64_t ticket, Mode mode) const ASSAY_REQUIRES(mutex_);
  Queue& queue(Mode mode) ASSAY_REQUIRES(mutex_);
  const Queue& queue(Mode mode) const ASSAY_REQUIRES(mutex_);

  const Limits limits_;
  FifoSemaphore memory_slots_;
  mutable Mutex mutex_;
  mutable Condition changed_;
  Queue shared_queue_ ASSAY_GUARDED_BY(mutex_), exclusive_queue_ ASSAY_GUARDED_BY(mutex_);
  std::uint64_t next_ticket_ ASSAY_GUARDED_BY(mutex_) = 0;
  /// Shared waiters with a ticket below this one go before the next exclusive holder.
  std::uint64_t shared_batch_end_ ASSAY_GUARDED_BY(mutex_) = 0;
  /// By the system's monotonic clock: the end of the shared batch's join window.
  std::int64_t shared_batch_joinable_until_ns_ ASSAY_GUARDED_BY(mutex_) = 0;
  /// Number of exclusive holders since the last shared batch.
  int exclusive_in_row_ ASSAY_GUARDED_BY(mutex_) = 0;
  int shared_holders_ ASSAY_GUARDED_BY(mutex_) = 0;
  bool exclusive_held_ ASSAY_GUARDED_BY(mutex_) = false;
  std::vector<JudgeLoad> judges_ ASSAY_GUARDED_BY(mutex_);
  std::map<std::string, std::size_t> judge_of_operator_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::sandbox
