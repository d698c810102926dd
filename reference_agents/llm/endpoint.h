// What the HTTP clients of both protocols share: where to send, the key, and how an answer's status
// becomes an Error. A key is held here only; it leaves in a header, and every text that might carry
// it back is redacted first.
//
//   Result<json> answer = post_json(endpoint, "/chat/completions", headers, body);
//   if (!field(*answer, "choices", 0)) return unusable(endpoint, "the answer has no choices",
//   *answer);
//
// Values, free functions; thread-safe.
//
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
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
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

struct Endpoint {
  std::string provider;  // "openai", for messages
  std::string base_url;  // "https://api.openai.com/v1", without a slash at the end
  std::string model;
  std::string api_key;  // empty: none is sent
  std::int64_t max_answer_bytes =
      16LL
      << 20;  // of one answer; the longest replies of today's models have some hundred thousand
  RetryPolicy policy;
  RetryClock clock = RetryClock::real();
};

/// http or https with a host and without a query; a key is sent in clear to this machine only.
Status check_endpoint(const Endpoint& endpoint);

/// Posts `body` to base_url + path and returns the parsed answer, an object; an HTTP error status
/// becomes an Error with the provider's message.
Result<nlohmann::json> post_json(const Endpoint& endpoint, const std::string& path,
                                 const std::map<std::string, std::string>& headers,
                                 const nlohmann::json& body);

/// `corrupt`: an answer that is JSON and not a reply; with the provider's own words where it has
/// any.
tl::unexpected<Error> unusable(const Endpoint& endpoint, const std::string& what,
                               const nlohmann::json& answer);

/// A reply's text without the key, should the endpoint echo it: replies are kept in transcripts.
/// Keys too short to be secrets ("EMPTY", as local servers take them) stay, for they may well be
/// words of the code.
std::string reply_text(const Endpoint& endpoint, std::string text);

}  // namespace assay::agents
