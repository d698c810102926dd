#include "sandbox/gpu/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace assay::sandbox {
namespace {

/// Returns true for modes whose holders exclude holders of `prepare` and `shared`.
bool is_alone(GpuScheduler::Mode mode) {
  return mode == GpuScheduler::Mode::exclusive || mode == GpuScheduler::Mode::host;
}

const char* name_of(GpuScheduler::Mode mode) {
  switch (mode) {
    case GpuScheduler::Mode::prepare: return "prepare";
    case GpuScheduler::Mode::shared: return "shared";
    case GpuScheduler::Mode::exclusive: return "exclusive";
    case GpuScheduler::Mode::load: return "load";
    case GpuScheduler::Mode::host: return "host";
  }
  return "";
}

}  // namespace

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

/// Returns true if a waiter belongs to the current batch. The next waiter that wants the GPU alone
/// waits until all waiters of the batch have had the lock.
bool GpuScheduler::batch_waits() const {
  return std::any_of(waiters_.begin(), waiters_.end(), [end = batch_end_](const Waiter& one) {
    return !is_alone(one.mode) && one.ticket < end;
  });
}

bool GpuScheduler::may_enter(const Waiter& waiter) const {
  const Mode mode = waiter.mode;
  const bool is_first = std::none_of(waiters_.begin(), waiters_.end(), [&](const Waiter& one) {
    return one.mode == mode && one.ticket < waiter.ticket;
  });
  if (!is_first || holders(Mode::exclusive) > 0) return false;
  if (is_alone(mode)) return may_enter_alone(waiter);
  if (mode == Mode::shared && holders(mode) >= limits_.sharers) return false;
  if (mode != Mode::load && holders(Mode::host) > 0) return false;
  const int others = holders(Mode::shared) + holders(Mode::prepare) + holders(Mode::load);
  const bool may_join = (others > 0 && system_clock().monotonic_ns() < batch_joinable_until_ns_) ||
                        (holders(Mode::load) > 0 && mode != Mode::load && !is_waiting(Mode::host));
  const bool blocked =
      is_waiting(Mode::exclusive) || (mode != Mode::load && is_waiting(Mode::host));
  return !blocked || waiter.ticket < batch_end_ || may_join;
}

/// Waiters of the modes `exclusive` and `host` enter in the order of their arrival. But while an
/// operator is loaded, no exclusive waiter can enter, so waiters of the mode `host` need not wait
/// for it.
bool GpuScheduler::may_enter_alone(const Waiter& waiter) const {
  const bool loads = holders(Mode::load) > 0;
  if (holders(Mode::shared) + holders(Mode::prepare) + holders(Mode::host) > 0) return false;
  if (waiter.mode == Mode::exclusive && loads) return false;
  const bool is_next = std::none_of(waiters_.begin(), waiters_.end(), [&](const Waiter& one) {
    const bool can_enter = one.mode == Mode::host || (one.mode == Mode::exclusive && !loads);
    return can_enter && one.ticket < waiter.ticket;
  });
  return is_next && !batch_waits();
}

Result<GpuScheduler::Guard> GpuScheduler::lock(Mode mode, const Deadline& deadline) {
  MutexLock lock(mutex_);
  const Waiter mine{next_ticket_++, mode};
  waiters_.push_back(mine);
  trace("waits", mode);
  changed_.notify_all();
  const bool admitted =
      deadline.wait(changed_, lock, [&]() ASSAY_REQUIRES(mutex_) { return may_enter(mine); });
  std::erase_if(waiters_, [&](const Waiter& one) { return one.ticket == mine.ticket; });
  trace(admitted ? "holds" : "gave up", mode);
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
  trace("released", mode);
  if (is_alone(mode) && (++alone_in_row_ >= kExclusiveBatch ||
                         (!is_waiting(Mode::exclusive) && !is_waiting(Mode::host)))) {
    batch_end_ = next_ticket_;
    batch_joinable_until_ns_ =
        system_clock().monotonic_ns() + std::chrono::nanoseconds(limits_.join_window).count();
    alone_in_row_ = 0;
  }
  changed_.notify_all();
}

void GpuScheduler::trace(const char* event, Mode mode) const {
  log::trace("gpu lock", {{"device", limits_.device},
                          {"event", event},
                          {"mode", name_of(mode)},
                          {"at_us", system_clock().monotonic_ns() / 1'000}});
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
