// Clock: what time it is. The only interface through which the server reads time, so that tests can
// set it. All implementations are thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace assay {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Monotonic nanoseconds; only differences mean anything.
  virtual std::int64_t monotonic_ns() const = 0;
  /// Milliseconds since the Unix epoch.
  virtual std::int64_t unix_ms() const = 0;
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

/// For tests: stands still until told to move.
class ManualClock final : public Clock {
 public:
  std::int64_t monotonic_ns() const override { return now_ms_ * 1'000'000; }
  std::int64_t unix_ms() const override { return now_ms_; }
  void advance_ms(std::int64_t ms) { now_ms_ += ms; }

 private:
  std::atomic<std::int64_t> now_ms_{1'000'000};
};

}  // namespace assay
