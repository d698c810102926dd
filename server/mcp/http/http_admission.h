// Who may talk to the HTTP server, decided from a request's headers before anything of its body is
// read:
//
//   Host, Origin (DNS rebinding) -> bearer token -> rate limit of the token, or of the address
//   where there are no tokens
//
//   Admission::Decision decision = admission.decide(header, connection.remote().host,
//   Admission::Path::protocol); if (decision.refusal) return *decision.refusal;            // 400,
//   401, 403 or 429
//
// Thread-safe.
//
// How many requests a caller may make: a token bucket per key (a token's name, or an address),
// filled at a steady rate up to a burst.
//
//   RateLimiter limiter({.per_second = 50, .burst = 200});
//   if (const auto wait = limiter.take("alice"); wait.count() > 0) refuse_until(wait);
//
// Thread-safe. Memory is bounded: beyond kMaxKeys the buckets that are full again are forgotten,
// and newcomers share one bucket when none is.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/mutex.h"
#include "server/mcp/http/http_endpoint.h"
#include "server/mcp/http/http_server.h"
#include "server/mcp/http/tokens.h"

namespace assay::mcp {

struct RateLimit {
  double per_second = 0;  // 0: no limit
  double burst = 0;       // requests at once after a pause; at least 1 where there is a limit
};

class RateLimiter {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMaxKeys = 65'536;

  explicit RateLimiter(const RateLimit& limit) : limit_(limit) {}

  /// Zero when the request may go on; else how long until the next one may, and nothing was taken.
  std::chrono::milliseconds take(const std::string& key, Clock::time_point now = Clock::now());
  const RateLimit& limit() const { return limit_; }

 private:
  struct Bucket {
    double tokens = 0;
    Clock::time_point filled;
  };
  double tokens_at(const Bucket& bucket, Clock::time_point now) const;
  Bucket& bucket_of(const std::string& key, Clock::time_point now) ASSAY_REQUIRES(mutex_);

  const RateLimit limit_;
  Mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_ ASSAY_GUARDED_BY(mutex_);
};

class Admission {
 public:
  /// `open`: needs no token and is not limited, such as /healthz.
  enum class Path { protocol, open };
  struct Decision {
    std::optional<Reply> refusal;
    std::shared_ptr<const Caller> caller = nullptr;  // null where no tokens are asked for
  };

  explicit Admission(const HttpOptions& options)
      : options_(options), limiter_(options.rate_limit) {}
  /// `remote`: the client's numeric address.
  Decision decide(const HeaderLookup& header, const std::string& remote, Path path);

 private:
  std::optional<Reply> refuse_name(const HeaderLookup& header) const;
  bool known_host(const std::string& host) const;
  std::optional<Reply> limit(const std::string& key, const std::string& whose);

  const HttpOptions& options_;
  RateLimiter limiter_;
};

}  // namespace assay::mcp
