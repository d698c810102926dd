// Deadline is the time at which a blocking call gives up, together with a stop token that makes the
// call give up earlier.
//
//   const Deadline deadline = Deadline::after_ms(2'000, monitor.stop);
//   std::array<pollfd, 1> entries{{{socket, POLLIN, 0}}};
//   while (!deadline.over() && poll_until(entries, deadline) <= 0) continue;
//   const bool in_time = deadline.wait(changed, lock, [&] { return done; });
//
// A stop request ends poll_until() and wait() at once. A Deadline may be copied freely.
#pragma once

#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <stop_token>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"

namespace assay::sandbox {

inline constexpr std::int64_t kForeverMs = 365LL * 24 * 3600 * 1000;

class Deadline {
 public:
  static Deadline after_ms(std::int64_t ms, std::stop_token stop = {}) {
    return Deadline(std::clamp<std::int64_t>(ms, 0, kForeverMs), std::move(stop));
  }
  static Deadline never() { return after_ms(kForeverMs); }

  bool cancelled() const { return stop_.stop_requested(); }
  bool expired() const { return system_clock().monotonic_ns() >= at_ns_; }
  bool over() const { return cancelled() || expired(); }
  const std::stop_token& stop() const { return stop_; }
  /// Returns the milliseconds that the deadline allowed when it was made.
  std::int64_t limit_ms() const { return limit_ms_; }
  /// Returns the milliseconds left, rounded up, or 0 if the deadline has passed.
  std::int64_t remaining_ms() const {
    const std::int64_t left_ns = std::max<std::int64_t>(at_ns_ - system_clock().monotonic_ns(), 0);
    return (left_ns + kNsPerMs - 1) / kNsPerMs;
  }
  /// Waits on `condition` until `ready` returns true, the deadline passes or a stop is requested.
  /// `ready` is called with `lock` held. Returns the last value of `ready`.
  template <class Ready>
  bool wait(Condition& condition, MutexLock& lock, const Ready& ready) const {
    return system_clock().wait_until(condition, lock, stop_, at_ns_, ready);
  }

 private:
  Deadline(std::int64_t limit_ms, std::stop_token stop)
      : limit_ms_(limit_ms),
        at_ns_(system_clock().monotonic_ns() + limit_ms * kNsPerMs),
        stop_(std::move(stop)) {}

  std::int64_t limit_ms_;
  std::int64_t at_ns_;  // by the system's monotonic clock
  std::stop_token stop_;
};

/// Polls `entries` until one is ready, the deadline passes or a stop is requested. Returns the
/// number of ready entries, 0 at the deadline or the stop, or -1 with errno. It may also return 0
/// early, so call it in a loop that checks the deadline.
int poll_until(std::span<pollfd> entries, const Deadline& deadline);

}  // namespace assay::sandbox
