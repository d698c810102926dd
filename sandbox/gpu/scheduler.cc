#include "sandbox/gpu/scheduler.h"

#include <algorithm>
#include <utility>

namespace assay::sandbox {

GpuScheduler::Guard& GpuScheduler::Guard::operator=(Guard&& other) noexcept {
  if (this == &other) return *this;
  release();
  owner_ = std::exchange(other.owner_, nullptr);
  mode_ = other.mode_;
  return *this;
}

void GpuScheduler::Guard::release() {
  if (owner_ != nullptr) owner_->unlock(mode_);
  owner_ = nullptr;
}

GpuScheduler::GpuScheduler(const Limits& limits)
    : limits_(limits),
      memory_slots_(limits.sharers, "the GPU's memory was in use for all of the time allowed") {}

/// Returns true if a waiter of this mode belongs to the current batch. The next exclusive waiter
/// waits until all waiters of the batch have had the lock.
bool GpuScheduler::batch_waits(Mode mode) const {
  return std::any_of(waiters_.begin(), waiters_.end(), [mode, end = batch_end_](const Waiter& one) {
    return one.mode == mode && one.ticket < end;
  });
}

bool GpuScheduler::may_enter(const Waiter& waiter) const {
  const Mode mode = waiter.mode;
  const bool is_first = std::none_of(waiters_.begin(), waiters_.end(), [&](const Waiter& one) {
    return one.mode == mode && one.ticket < waiter.ticket;
  });
  if (!is_first || holders(Mode::exclusive) > 0) return false;
  const int others = holders(Mode::shared) + holders(Mode::prepare);
  if (mode == Mode::exclusive)
    return others == 0 && !batch_waits(Mode::shared) && !batch_waits(Mode::prepare);
  if (mode == Mode::shared && holders(mode) >= limits_.sharers) return false;
  const bool may_join = others > 0 && system_clock().monotonic_ns() < batch_joinable_until_ns_;
  return !is_waiting(Mode::exclusive) || waiter.ticket < batch_end_ || may_join;
}

Result<GpuScheduler::Guard> GpuScheduler::lock(Mode mode, const Deadline& deadline) {
  MutexLock lock(mutex_);
  const Waiter mine{next_ticket_++, mode};
  waiters_.push_back(mine);
  changed_.notify_all();
  const bool admitted =
      deadline.wait(changed_, lock, [&]() ASSAY_REQUIRES(mutex_) { return may_enter(mine); });
  std::erase_if(waiters_, [&](const Waiter& one) { return one.ticket == mine.ticket; });
  if (admitted) ++holders(mode);
  // Wakes the waiters, because one of them may now share the GPU or be first in its queue.
  changed_.notify_all();
  if (admitted) return Guard(*this, mode);
  return deadline.cancelled()
             ? fail(ErrorCode::cancelled, "cancelled")
             : fail(ErrorCode::resource_exhausted, "the GPU was busy for all of the time allowed");
}

void GpuScheduler::unlock(Mode mode) {
  const MutexLock lock(mutex_);
  --holders(mode);
  if (mode == Mode::exclusive &&
      (++exclusive_in_row_ >= kExclusiveBatch || !is_waiting(Mode::exclusive))) {
    batch_end_ = next_ticket_;
    batch_joinable_until_ns_ =
        system_clock().monotonic_ns() + std::chrono::nanoseconds(limits_.join_window).count();
    exclusive_in_row_ = 0;
  }
  changed_.notify_all();
}

int GpuScheduler::waiting(Mode mode) const {
  const MutexLock lock(mutex_);
  return waiting_for(mode);
}

bool GpuScheduler::wait_for_waiters(Mode mode, int count, const Deadline& deadline) const {
  MutexLock lock(mutex_);
  return deadline.wait(changed_, lock,
                       [&]() ASSAY_REQUIRES(mutex_) { return waiting_for(mode) == count; });
}

int GpuScheduler::waiting_for(Mode mode) const {
  return static_cast<int>(std::count_if(waiters_.begin(), waiters_.end(),
                                        [&](const Waiter& one) { return one.mode == mode; }));
}

}  // namespace assay::sandbox
