#include "server/mcp/http/rate_limit.h"

#include <algorithm>
#include <cmath>

namespace assay::mcp {
namespace {

constexpr const char* kShared = "";  // no caller has an empty name

}  // namespace

std::chrono::milliseconds RateLimiter::take(const std::string& key, Clock::time_point now) {
  if (limit_.per_second <= 0) return std::chrono::milliseconds{0};
  const MutexLock lock(mutex_);
  Bucket& bucket = bucket_of(key, now);
  bucket.tokens = tokens_at(bucket, now);
  bucket.filled = now;
  if (bucket.tokens >= 1) {
    bucket.tokens -= 1;
    return std::chrono::milliseconds{0};
  }
  return std::chrono::milliseconds{
      static_cast<std::int64_t>(std::ceil((1 - bucket.tokens) / limit_.per_second * 1000))};
}

double RateLimiter::tokens_at(const Bucket& bucket, Clock::time_point now) const {
  const double seconds = std::chrono::duration<double>(now - bucket.filled).count();
  return std::min(std::max(limit_.burst, 1.0), bucket.tokens + seconds * limit_.per_second);
}

RateLimiter::Bucket& RateLimiter::bucket_of(const std::string& key, Clock::time_point now) {
  const double full = std::max(limit_.burst, 1.0);
  if (const auto found = buckets_.find(key); found != buckets_.end()) return found->second;
  if (buckets_.size() >= kMaxKeys) {
    for (auto entry = buckets_.begin(); entry != buckets_.end();)
      entry = tokens_at(entry->second, now) >= full ? buckets_.erase(entry) : std::next(entry);
  }
  return buckets_.try_emplace(buckets_.size() < kMaxKeys ? key : kShared, Bucket{full, now})
      .first->second;
}

}  // namespace assay::mcp
