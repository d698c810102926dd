// Deadline: the time at which a blocking call gives up, and the stop token that makes it give up
// earlier.
//
//   const Deadline deadline = Deadline::after_ms(2'000, monitor.stop);
//   std::array<pollfd, 1> entries{{{socket, POLLIN, 0}}};
//   while (!deadline.over() && poll_until(entries, deadline) <= 0) continue;
//   changed.wait_until(lock, deadline.stop(), deadline.time(), [&] { return done; });
//
// A stop request ends both kinds of wait at once. A Deadline is a value: copy it freely.
#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <span>
#include <stop_token>
#include <utility>

namespace assay::sandbox {

inline constexpr std::int64_t kForeverMs = 365LL * 24 * 3600 * 1000;

class Deadline {
 public:
  static Deadline after_ms(std::int64_t ms, std::stop_token stop = {}) {
    return Deadline(std::chrono::steady_clock::now() +
                        std::chrono::milliseconds(std::clamp<std::int64_t>(ms, 0, kForeverMs)),
                    std::move(stop));
  }
  static Deadline never() { return after_ms(kForeverMs); }

  bool cancelled() const { return stop_.stop_requested(); }
  bool expired() const { return std::chrono::steady_clock::now() >= at_; }
  bool over() const { return cancelled() || expired(); }
  std::chrono::steady_clock::time_point time() const { return at_; }
  const std::stop_token& stop() const { return stop_; }
  /// Returns the milliseconds left, rounded up, or 0 if the deadline has passed.
  std::int64_t remaining_ms() const {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(at_ - std::chrono::steady_clock::now())
            .count();
    return std::max<std::int64_t>(left, 0);
  }

 private:
  Deadline(std::chrono::steady_clock::time_point at, std::stop_token stop)
      : at_(at), stop_(std::move(stop)) {}

  std::chrono::steady_clock::time_point at_;
  std::stop_token stop_;
};

/// Polls `entries` until one is ready, the deadline passes or a stop is requested. Returns the
/// number of ready entries, 0 at the deadline or the stop, or -1 with errno. It may also return 0
/// early, so call it in a loop that checks the deadline.
int poll_until(std::span<pollfd> entries, const Deadline& deadline);

}  // namespace assay::sandbox
