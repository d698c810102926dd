// Gives the limits of an HTTP server in the forms that its parts need. LiveLimits holds those that
// can be changed while the server runs. The server takes over new limits within some tens of
// milliseconds. Calls and streams that run go on, even if they are more than the new limits allow.
//
//   LiveLimits live(changeable_limits(options));
//   live.replace({.rate = {10, 40}, .calls = {64, 8}});
//   if (const auto newer = newer_limits(&live, seen)) apply(*newer);  // also changes `seen`
//
// Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/mutex.h"
#include "base/rate_limiter.h"
#include "server/mcp/core/share_limiter.h"
#include "server/mcp/http/http_request.h"
#include "server/mcp/http/http_server.h"
#include "server/mcp/http/listener.h"

namespace assay::mcp {

/// HttpOptions says what each limit means.
struct HttpLimits {
  RateLimit rate;
  ShareLimiter::Places calls, listeners, uploads;
};

/// Returns the limits that can be changed while the server runs.
inline HttpLimits changeable_limits(const HttpOptions& options) {
  return {.rate = options.rate_limit,
          .calls = {options.max_calls, options.principal_calls},
          .listeners = {options.max_listeners, options.principal_listeners},
          .uploads = {options.max_uploads, options.principal_uploads}};
}

inline ListenerLimits listener_limits(const HttpOptions& options) {
  ListenerLimits limits;
  limits.threads = options.threads;
  limits.max_connections = options.max_connections;
  limits.backlog = options.backlog;
  limits.first_request_timeout = std::chrono::milliseconds(options.header_timeout_ms);
  limits.write_timeout = std::chrono::milliseconds(options.write_timeout_ms);
  return limits;
}

inline HeadLimits head_limits(const HttpOptions& options) {
  return {static_cast<std::size_t>(options.max_header_bytes),
          static_cast<std::size_t>(options.max_headers)};
}

class LiveLimits {
 public:
  explicit LiveLimits(const HttpLimits& limits) : limits_(limits) {}

  void replace(const HttpLimits& limits) {
    const MutexLock lock(mutex_);
    limits_ = limits;
    ++number_;
  }
  /// Returns the limits if replace() was called since `seen` had its value, and sets `seen`, which
  /// begins with 0. Returns nothing otherwise.
  std::optional<HttpLimits> newer_than(std::int64_t& seen) const {
    const MutexLock lock(mutex_);
    if (number_ == seen) return std::nullopt;
    seen = number_;
    return limits_;
  }

 private:
  mutable Mutex mutex_;
  HttpLimits limits_ ASSAY_GUARDED_BY(mutex_);
  std::int64_t number_ ASSAY_GUARDED_BY(mutex_) = 0;  // of calls of replace()
};

/// Returns what `live` has, if it is newer than `seen`. Null: it never changes.
inline std::optional<HttpLimits> newer_limits(const LiveLimits* live, std::int64_t& seen) {
  return live ? live->newer_than(seen) : std::nullopt;
}

}  // namespace assay::mcp
