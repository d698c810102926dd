// Admission decides whether the client of a request may use the HTTP server. It reads only the
// headers, so the decision comes before the body is read. It first checks Host and Origin (against
// DNS rebinding), then the bearer token, then the rate limit. Each token has its own rate limit. A
// request without a valid token counts against the rate limit of its address.
//
//   const Admission::Decision decision =
//       admission.decide(request.lookup(), "192.0.2.7", Admission::Path::protocol);
//   if (decision.refusal) return *decision.refusal;  // 400, 401, 403 or 429
//
// RateLimiter implements rate limits with one token bucket for each key. A key is the name of a
// bearer token or an address. There are at most kMaxKeys buckets, so that the memory is limited.
// When this limit is reached, a new key first removes the buckets that are full again. If no bucket
// is full, all new keys share one bucket. Both classes are thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"
#include "server/mcp/http/http_endpoint.h"
#include "server/mcp/http/http_server.h"
#include "server/mcp/http/tokens.h"

namespace assay::mcp {

class RateLimiter {
 public:
  static constexpr std::size_t kMaxKeys = 65'536;

  explicit RateLimiter(const RateLimit& limit, const Clock& clock = system_clock())
      : limit_(limit), clock_(clock) {}

  /// Takes one unit from the bucket of `key` and returns 0. If the bucket is empty, returns the
  /// time until it contains the next unit.
  std::chrono::milliseconds take(const std::string& key);
  const RateLimit& limit() const { return limit_; }

 private:
  struct Bucket {
    double tokens = 0;
    std::int64_t filled_ns = 0;
  };
  double tokens_at(const Bucket& bucket, std::int64_t now_ns) const;
  Bucket& bucket_of(const std::string& key, std::int64_t now_ns) ASSAY_REQUIRES(mutex_);

  const RateLimit limit_;
  const Clock& clock_;
  Mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_ ASSAY_GUARDED_BY(mutex_);
};

class Admission {
 public:
  /// Says which checks a path needs. A `protocol` path needs a token and has a rate limit. An
  /// `open` path has neither: /healthz, and every path that does not exist. Clients without a token
  /// look for the documents of OAuth (/.well-known/...), and must learn that there are none.
  enum class Path { protocol, open };
  struct Decision {
    std::optional<Reply> refusal;
    /// Null if the server has no tokens, if the path is `open`, or if the token is not valid.
    std::shared_ptr<const Caller> caller = nullptr;
  };

  /// The options and the clock must outlive the object.
  explicit Admission(const HttpOptions& options, const Clock& clock = system_clock())
      : options_(options), limiter_(options.rate_limit, clock) {}
  /// Decides about one request. `remote` is the numeric address of the client.
  Decision decide(const HeaderLookup& header, const std::string& remote, Path path);

 private:
  std::optional<Reply> refuse_name(const HeaderLookup& header) const;
  bool known_host(const std::string& host) const;
  std::optional<Reply> limit(const std::string& key, const std::string& whose);

  const HttpOptions& options_;
  RateLimiter limiter_;
};

}  // namespace assay::mcp
