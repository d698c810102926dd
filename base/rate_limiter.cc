#include "base/rate_limiter.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace assay {
namespace {

// The key of the bucket that new keys share when there is no room for more buckets.
constexpr const char* kShared = "";

}  // namespace

std::chrono::milliseconds RateLimiter::take(const std::string& key) {
  const std::int64_t now_ns = clock_.monotonic_ns();
  const MutexLock lock(mutex_);
  if (limit_.per_second <= 0) return std::chrono::milliseconds{0};
  Bucket& bucket = bucket_of(key, now_ns);
  bucket.tokens = tokens_at(bucket, now_ns);
  bucket.filled_ns = now_ns;
  if (bucket.tokens >= 1) {
    bucket.tokens -= 1;
    return std::chrono::milliseconds{0};
  }
  return std::chrono::milliseconds{
      static_cast<std::int64_t>(std::ceil((1 - bucket.tokens) / limit_.per_second * 1000))};
}

RateLimit RateLimiter::limit() const {
  const MutexLock lock(mutex_);
  return limit_;
}

void RateLimiter::set_limit(const RateLimit& limit) {
  const MutexLock lock(mutex_);
  limit_ = limit;
}

double RateLimiter::tokens_at(const Bucket& bucket, std::int64_t now_ns) const {
  const double seconds = static_cast<double>(now_ns - bucket.filled_ns) / 1e9;
  return std::min(std::max(limit_.burst, 1.0), bucket.tokens + seconds * limit_.per_second);
}

void RateLimiter::forget_full() {
  const std::int64_t now_ns = clock_.monotonic_ns();
  const MutexLock lock(mutex_);
  remove_full(now_ns);
}

std::size_t RateLimiter::size() const {
  const MutexLock lock(mutex_);
  return buckets_.size();
}

void RateLimiter::remove_full(std::int64_t now_ns) {
  const double full = std::max(limit_.burst, 1.0);
  for (auto entry = buckets_.begin(); entry != buckets_.end();)
    entry = tokens_at(entry->second, now_ns) >= full ? buckets_.erase(entry) : std::next(entry);
}

RateLimiter::Bucket& RateLimiter::bucket_of(const std::string& key, std::int64_t now_ns) {
  const double full = std::max(limit_.burst, 1.0);
  if (const auto found = buckets_.find(key); found != buckets_.end()) return found->second;
  if (buckets_.size() >= kMaxKeys) remove_full(now_ns);
  return buckets_.try_emplace(buckets_.size() < kMaxKeys ? key : kShared, Bucket{full, now_ns})
      .first->second;
}

}  // namespace assay
