// RateLimiter limits how often something may happen, with one token bucket for each key. A key is,
// for example, the name of a client or its address. There are at most kMaxKeys buckets, so that the
// memory is limited. When this limit is reached, a new key first removes the buckets that are full
// again. If no bucket is full, all new keys share one bucket. Thread-safe. The clock must outlive
// the object.
//
//   RateLimiter requests({.per_second = 50, .burst = 200});
//   const std::chrono::milliseconds wait = requests.take("token alice");
//   if (wait.count() > 0) return refuse();  // the client may try again after `wait`
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"

namespace assay {

/// A steady rate, and a burst after a pause.
struct RateLimit {
  double per_second = 0;  // 0: no limit
  double burst = 0;       // events allowed at once after a pause; at least 1 if there is a limit
};

class RateLimiter {
 public:
  static constexpr std::size_t kMaxKeys = 65'536;

  explicit RateLimiter(const RateLimit& limit, const Clock& clock = system_clock())
      : clock_(clock), limit_(limit) {}

  /// Takes one unit from the bucket of `key` and returns 0. If the bucket is empty, returns the
  /// time until it contains the next unit.
  std::chrono::milliseconds take(const std::string& key);
  /// Removes the buckets that are full again. A removed bucket and a full one have the same effect.
  void forget_full();
  /// Returns the number of buckets.
  std::size_t size() const;
  RateLimit limit() const;
  /// Changes the limit of all keys. A key that has used its burst up waits by the new rate.
  void set_limit(const RateLimit& limit);

 private:
  struct Bucket {
    double tokens = 0;
    std::int64_t filled_ns = 0;
  };
  double tokens_at(const Bucket& bucket, std::int64_t now_ns) const ASSAY_REQUIRES(mutex_);
  void remove_full(std::int64_t now_ns) ASSAY_REQUIRES(mutex_);
  Bucket& bucket_of(const std::string& key, std::int64_t now_ns) ASSAY_REQUIRES(mutex_);

  const Clock& clock_;
  mutable Mutex mutex_;
  RateLimit limit_ ASSAY_GUARDED_BY(mutex_);
  std::unordered_map<std::string, Bucket> buckets_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay
