#include "sandbox/device/gpu_lease.h"

#include <algorithm>
#include <chrono>

namespace assay::sandbox {
namespace {

constexpr auto kWaitSlice = std::chrono::milliseconds(kCancelPollMs);

}  // namespace

GpuLease::Hold& GpuLease::Hold::operator=(Hold&& other) noexcept {
  if (this == &other) return *this;
  release();
  lease_ = other.lease_;
  alone_ = other.alone_;
  other.lease_ = nullptr;
  return *this;
}

void GpuLease::Hold::release() {
  if (lease_ != nullptr) lease_->give_back(alone_);
  lease_ = nullptr;
}

Result<GpuLease::Hold> GpuLease::take(bool alone, const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = next_++;
  queue_.push_back(mine);
  const auto is_free = [&] { return !taken_alone_ && (alone ? sharing_ == 0 : sharing_ < sharers_); };
  while (queue_.front() != mine || !is_free()) {
    if (deadline.over()) {
      std::erase(queue_, mine);
      changed_.notify_all();
      return deadline.cancelled() ? fail(ErrorCode::cancelled, "cancelled") : fail(ErrorCode::resource_exhausted, "the GPU was busy for all of the time allowed");
    }
    changed_.wait_for(lock, kWaitSlice);
  }
  queue_.pop_front();
  if (alone)
    taken_alone_ = true;
  else
    ++sharing_;
  changed_.notify_all();  // the next one may be able to share
  return Hold(*this, alone);
}

void GpuLease::give_back(bool alone) {
  {
    const std::lock_guard lock(mutex_);
    if (alone)
      taken_alone_ = false;
    else
      --sharing_;
  }
  changed_.notify_all();
}

}  // namespace assay::sandbox
