#include "sandbox/gpu/scheduler.h"

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

GpuScheduler::Queue& GpuScheduler::queue(Mode mode) {
  return mode == Mode::shared ? shared_queue_ : exclusive_queue_;
}

const GpuScheduler::Queue& GpuScheduler::queue(Mode mode) const {
  return mode == Mode::shared ? shared_queue_ : exclusive_queue_;
}

bool GpuScheduler::may_enter(std::uint64_t ticket, Mode mode) const {
  if (exclusive_held_ || queue(mode).front() != ticket) return false;
  const bool shared_batch_waits =
      !shared_queue_.empty() && shared_queue_.front() < shared_batch_end_;
  if (mode == Mode::exclusive) return shared_holders_ == 0 && !shared_batch_waits;
  const bool may_join =
      shared_holders_ > 0 && system_clock().monotonic_ns() < shared_batch_joinable_until_ns_;
  return shared_holders_ < limits_.sharers &&
         (exclusive_queue_.empty() || shared_batch_waits || may_join);
}

Result<GpuScheduler::Guard> GpuScheduler::lock(Mode mode, const Deadline& deadline) {
  MutexLock lock(mutex_);
  const std::uint64_t mine = next_ticket_++;
  queue(mode).push_back(mine);
  changed_.notify_all();
  const bool admitted =
      deadline.wait(changed_, lock, [&]() ASSAY_REQUIRES(mutex_) { return may_enter(mine, mode); });
  std::erase(queue(mode), mine);
  if (admitted && mode == Mode::exclusive) exclusive_held_ = true;
  if (admitted && mode == Mode::shared) ++shared_holders_;
  // Wakes the waiters, because one of them may now share the GPU or be first in its queue.
  changed_.notify_all();
  if (admitted) return Guard(*this, mode);
  return deadline.cancelled()
             ? fail(ErrorCode::cancelled, "cancelled")
             : fail(ErrorCode::resource_exhausted, "the GPU was busy for all of the time allowed");
}

void GpuScheduler::unlock(Mode mode) {
  const MutexLock lock(mutex_);
  if (mode == Mode::shared) {
    --shared_holders_;
  } else {
    exclusive_held_ = false;
    if (++exclusive_in_row_ >= kExclusiveBatch || exclusive_queue_.empty()) {
      shared_batch_end_ = next_ticket_;
      shared_batch_joinable_until_ns_ =
          system_clock().monotonic_ns() + std::chrono::nanoseconds(limits_.join_window).count();
      exclusive_in_row_ = 0;
    }
  }
  changed_.notify_all();
}

int GpuScheduler::waiting(Mode mode) const {
  const MutexLock lock(mutex_);
  return static_cast<int>(queue(mode).size());
}

bool GpuScheduler::wait_for_waiters(Mode mode, int count, const Deadline& deadline) const {
  MutexLock lock(mutex_);
  return deadline.wait(changed_, lock, [&]() ASSAY_REQUIRES(mutex_) {
    return static_cast<int>(queue(mode).size()) == count;
  });
}

}  // namespace assay::sandbox
