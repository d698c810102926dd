// Clock tells the time and waits until a given time. The server reads the time through this
// interface, so that a test can set the time. All implementations are thread-safe.
//
//   const std::int64_t until_ns = clock.monotonic_ns() + 5'000'000;
//   MutexLock lock(mutex);
//   const bool in_time = clock.wait_until(changed, lock, until_ns, [&] { return done; });
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <utility>

#include "base/mutex.h"

namespace assay {

constexpr std::int64_t kNsPerMs = 1'000'000;

class Clock {
 public:
  virtual ~Clock() = default;
  /// Returns a monotonic time in nanoseconds. Only the difference of two such times has a meaning.
  virtual std::int64_t monotonic_ns() const = 0;
  /// Returns the milliseconds since the Unix epoch.
  virtual std::int64_t unix_ms() const = 0;
  /// Waits on `condition` until `ready` is true or this clock shows `until_ns` (monotonic). `lock`
  /// is held on entry, on return and while `ready` runs. Returns the last value of `ready`.
  bool wait_until(Condition& condition, MutexLock& lock, std::int64_t until_ns,
                  const std::function<bool()>& ready) const {
    return wait_until(condition, lock, std::stop_token(), until_ns, ready);
  }
  /// Waits like the function above, but the wait also ends when `stop` is requested.
  virtual bool wait_until(Condition& condition, MutexLock& lock, std::stop_token stop,
                          std::int64_t until_ns, const std::function<bool()>& ready) const {
    return condition.wait_for(lock, std::move(stop),
                              std::chrono::nanoseconds(until_ns - monotonic_ns()), ready);
  }
  /// Waits for the duration `time`. Returns false if `stop` is requested before the wait is over.
  bool pause(std::chrono::nanoseconds time, const std::stop_token& stop = {}) const {
    Mutex mutex;
    Condition condition;
    MutexLock lock(mutex);
    wait_until(condition, lock, stop, monotonic_ns() + time.count(), [] { return false; });
    return !stop.stop_requested();
  }
};

class SystemClock final : public Clock {
 public:
  std::int64_t monotonic_ns() const override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  std::int64_t unix_ms() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
};

/// Returns the clock of the machine, which lives as long as the process.
inline const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

/// A clock for tests that advances only when advance_ms() is called. A wait on this clock also ends
/// when the same time has passed on the system's clock. So a test that never advances the clock
/// does not hang.
class ManualClock final : public Clock {
 public:
  std::int64_t monotonic_ns() const override { return now_ms_ * kNsPerMs; }
  std::int64_t unix_ms() const override { return now_ms_; }
  using Clock::wait_until;
  bool wait_until(Condition& condition, MutexLock& lock, std::stop_token stop,
                  std::int64_t until_ns, const std::function<bool()>& ready) const override {
    constexpr std::chrono::milliseconds kLook(1);
    const SystemClock system;
    const std::int64_t end_ns = system.monotonic_ns() + until_ns - monotonic_ns();
    while (!ready()) {
      if (stop.stop_requested()) return false;
      if (monotonic_ns() >= until_ns || system.monotonic_ns() >= end_ns) return false;
      condition.wait_for(lock, stop, kLook, ready);
    }
    return true;
  }
  void advance_ms(std::int64_t ms) { now_ms_ += ms; }

 private:
  std::atomic<std::int64_t> now_ms_{1'000'000};
};

}  // namespace assay
