// Retries of one HTTP request to a model's endpoint: 429, 408, 5xx and broken connections are tried
// again after a pause that doubles, with full jitter; where the server names a Retry-After, after
// that and some jitter. Everything else is answered at once.
//
//   Result<mcp::HttpResponse> response = post_with_retries([&] { return mcp::http_post(...); },
//   RetryPolicy{}, RetryClock::real());
//
// Sleeping and chance are parameters, so that tests run in no time. Thread-safe when the given
// functions are.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "server/mcp/client/http_client.h"

namespace assay::agents {

struct RetryPolicy {
  int attempts = 6;                     // in all
  std::int64_t first_pause_ms = 1'000;  // doubles with each retry
  std::int64_t longest_pause_ms = 60'000;
  std::int64_t longest_retry_after_ms =
      300'000;                                // a server that asks for more is taken as unavailable
  std::int64_t request_timeout_ms = 600'000;  // of one attempt: a long reply is not streamed
};

struct RetryClock {
  std::function<void(std::int64_t)> sleep_ms;
  std::function<double()> uniform;        // in [0, 1)
  std::function<std::int64_t()> unix_ms;  // for a Retry-After that names a date
  static RetryClock real();
};

/// The last response or Error. A response with an error status is returned as it is once the
/// attempts are used up.
Result<mcp::HttpResponse> post_with_retries(const std::function<Result<mcp::HttpResponse>()>& send,
                                            const RetryPolicy& policy, const RetryClock& clock);

/// Milliseconds that a Retry-After value asks for ("7", "0.5" or an HTTP date); nothing when it is
/// neither.
std::optional<std::int64_t> parse_retry_after(std::string_view value, std::int64_t now_unix_ms);

}  // namespace assay::agents
