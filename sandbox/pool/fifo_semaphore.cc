#include "sandbox/pool/fifo_semaphore.h"

namespace assay::sandbox {

void FifoSemaphore::Slot::release() {
  if (owner_ != nullptr) owner_->release(count_);
  owner_ = nullptr;
}

Result<FifoSemaphore::Slot> FifoSemaphore::acquire(const Deadline& deadline, bool all) {
  MutexLock lock(mutex_);
  const std::uint64_t mine = next_ticket_++;
  queue_.push_back(mine);
  changed_.notify_all();
  const bool admitted = deadline.wait(changed_, lock, [&]() ASSAY_REQUIRES(mutex_) {
    return queue_.front() == mine && (all ? held_ == 0 : held_ < slots_);
  });
  std::erase(queue_, mine);
  const int count = all ? slots_ : 1;
  if (admitted) held_ += count;
  changed_.notify_all();
  if (admitted) return Slot(*this, count);
  return deadline.cancelled() ? fail(ErrorCode::cancelled, "cancelled")
                              : fail(ErrorCode::resource_exhausted, busy_);
}

void FifoSemaphore::set_slots(int slots) {
  const MutexLock lock(mutex_);
  slots_ = slots;
  changed_.notify_all();
}

int FifoSemaphore::held() const {
  const MutexLock lock(mutex_);
  return held_;
}

int FifoSemaphore::waiting() const {
  const MutexLock lock(mutex_);
  return static_cast<int>(queue_.size());
}

bool FifoSemaphore::wait_for_waiters(int count, const Deadline& deadline) const {
  MutexLock lock(mutex_);
  return deadline.wait(changed_, lock, [&]() ASSAY_REQUIRES(mutex_) {
    return static_cast<int>(queue_.size()) == count;
  });
}

void FifoSemaphore::release(int count) {
  const MutexLock lock(mutex_);
  held_ -= count;
  changed_.notify_all();
}

}  // namespace assay::sandbox
