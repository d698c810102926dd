#include "sandbox/gpu/gpu_lock.h"

#include <algorithm>
#include <chrono>

namespace assay::sandbox {
namespace {

constexpr auto kWaitSlice = std::chrono::milliseconds(50);

}  // namespace

GpuLock::Hold& GpuLock::Hold::operator=(Hold&& other) noexcept {
  if (this == &other) return *this;
  release();
  lease_ = other.lease_;
  alone_ = other.alone_;
  other.lease_ = nullptr;
  return *this;
}

void GpuLock::Hold::release() {
  if (lease_ != nullptr) lease_->give_back(alone_);
  lease_ = nullptr;
}

bool GpuLock::may_enter(std::uint64_t number, bool alone) const {
  if (taken_alone_) return false;
  const bool sharers_first = !would_share_.empty() && would_share_.front() < sharers_turn_;
  if (alone) return would_be_alone_.front() == number && sharing_ == 0 && !sharers_first;
  const bool joins = sharing_ > 0 && std::chrono::steady_clock::now() < turn_began_ + join_;
  return would_share_.front() == number && sharing_ < sharers_ &&
         (would_be_alone_.empty() || sharers_first || joins);
}

Result<GpuLock::Hold> GpuLock::take(bool alone, const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  std::deque<std::uint64_t>& queue = alone ? would_be_alone_ : would_share_;
  const std::uint64_t mine = next_++;
  queue.push_back(mine);
  while (!may_enter(mine, alone)) {
    if (deadline.over()) {
      std::erase(queue, mine);
      changed_.notify_all();
      return deadline.cancelled() ? fail(ErrorCode::cancelled, "cancelled")
                                  : fail(ErrorCode::resource_exhausted,
                                         "the GPU was busy for all of the time allowed");
    }
    changed_.wait_for(lock, kWaitSlice);
  }
  queue.pop_front();
  if (alone)
    taken_alone_ = true;
  else
    ++sharing_;
  changed_.notify_all();  // the next one may be able to share
  return Hold(*this, alone);
}

void GpuLock::give_back(bool alone) {
  {
    const std::lock_guard lock(mutex_);
    if (!alone) {
      --sharing_;
    } else {
      taken_alone_ = false;
      if (++in_row_ >= kAloneInRow || would_be_alone_.empty()) {
        sharers_turn_ = next_;
        turn_began_ = std::chrono::steady_clock::now();
        in_row_ = 0;
      }
    }
  }
  changed_.notify_all();
}

}  // namespace assay::sandbox
