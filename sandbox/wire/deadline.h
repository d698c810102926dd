// Deadline: until when a blocking call may wait, and the flag that ends the wait early.
//
//   Deadline deadline = Deadline::after_ms(2'000, &monitor.cancel);
//   while (!deadline.over()) { poll(fds, n, deadline.poll_ms()); ... }
//
// A value; the flag it points to must outlive it. A wait notices the flag within kCancelPollMs.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace assay::sandbox {

inline constexpr std::int64_t kCancelPollMs = 50;
inline constexpr std::int64_t kForeverMs = 365LL * 24 * 3600 * 1000;

class Deadline {
 public:
  static Deadline after_ms(std::int64_t ms, const std::atomic<bool>* cancel = nullptr) {
    return Deadline(std::chrono::steady_clock::now() +
                        std::chrono::milliseconds(std::clamp<std::int64_t>(ms, 0, kForeverMs)),
                    cancel);
  }
  static Deadline never() { return after_ms(kForeverMs); }

  bool cancelled() const { return cancel_ != nullptr && cancel_->load(std::memory_order_relaxed); }
  bool expired() const { return std::chrono::steady_clock::now() >= at_; }
  bool over() const { return cancelled() || expired(); }
  /// Milliseconds left, rounded up, 0 when expired.
  std::int64_t remaining_ms() const {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(at_ - std::chrono::steady_clock::now())
            .count();
    return std::max<std::int64_t>(left, 0);
  }
  /// What to give poll(2): short enough to notice the cancel flag.
  int poll_ms() const {
    const std::int64_t slice = cancel_ != nullptr ? kCancelPollMs : 1'000;
    return static_cast<int>(std::min(remaining_ms(), slice));
  }

 private:
  Deadline(std::chrono::steady_clock::time_point at, const std::atomic<bool>* cancel)
      : at_(at), cancel_(cancel) {}

  std::chrono::steady_clock::time_point at_;
  const std::atomic<bool>* cancel_;
};

}  // namespace assay::sandbox
