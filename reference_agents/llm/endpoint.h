// Sends requests to an LLM endpoint. The HTTP clients of both protocols (http_clients.h) share this
// code: the address, the key, retries, and the conversion of an HTTP status to an Error.
//
//   Result<nlohmann::json> answer = post_json(endpoint, "/chat/completions", headers, body);
//   if (answer && field(*answer, "choices", 0) == nullptr)
//     return unusable(endpoint, "the answer has no choices", *answer);
//
// The key is stored only here and sent only in a header. Every text that could contain the key is
// redacted. A request is retried after a pause if the response is 408, 429 or 5xx, if the response
// is 200 but no reply (some proxies answer so when a model is overloaded), or if the connection is
// broken. The pause is random; its maximum doubles with each retry. If the response
// has a Retry-After header, the pause is at least as long as the header says. Tests replace the
// clock, so that no test really sleeps.
//
// Thread-safe if the functions of the RetryClock are thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "server/mcp/client/http_client.h"

namespace assay::agents {

struct RetryPolicy {
  int attempts = 6;                     // the maximum number of attempts, including the first
  std::int64_t first_pause_ms = 1'000;  // the longest first pause; doubles with each retry
  std::int64_t longest_pause_ms = 60'000;
  /// The longest Retry-After that is obeyed. If the server asks for a longer pause, no retry
  /// follows.
  std::int64_t longest_retry_after_ms = 300'000;
  /// The time limit of one HTTP request. It is long because replies are not streamed.
  std::int64_t request_timeout_ms = 600'000;
};

struct RetryClock {
  std::function<void(std::int64_t)> sleep_ms;
  std::function<double()> uniform;        // returns a random number in [0, 1)
  std::function<std::int64_t()> unix_ms;  // the current time; needed for a Retry-After with a date
  static RetryClock real();
};

/// What the caller of post_with_retries() knows and wants to know. Both functions can be empty.
struct RetryHooks {
  /// Says why a response with status 200 is no answer, such as "it is not JSON". Returns "" for an
  /// answer. A response that is no answer is retried like one with status 500.
  std::function<std::string(const mcp::HttpResponse&)> defect = {};
  /// Gets a text before each pause, such as "try 3 of 6 in 1.5 s: HTTP 503".
  std::function<void(const std::string&)> notice = {};
};

/// Calls `send` until it succeeds or the attempts are used up. Returns the last response, which can
/// have an error status, or the last Error.
Result<mcp::HttpResponse> post_with_retries(const std::function<Result<mcp::HttpResponse>()>& send,
                                            const RetryPolicy& policy, const RetryClock& clock,
                                            const RetryHooks& hooks = {});

/// Returns the milliseconds of a Retry-After value: seconds ("7", "0.5") or an HTTP date. Returns
/// nothing for any other value.
std::optional<std::int64_t> parse_retry_after(std::string_view value, std::int64_t now_unix_ms);

struct Endpoint {
  std::string provider;  // the name in messages, such as "openai"
  std::string base_url;  // "https://api.openai.com/v1", without a slash at the end
  std::string model;
  std::string api_key;  // empty: no key is sent
  /// The maximum size of one answer. The longest replies of current models have a few hundred
  /// thousand bytes.
  std::int64_t max_answer_bytes = 16LL << 20;
  RetryPolicy policy;
  RetryClock clock = RetryClock::real();
};

/// Checks that the URL is http or https, with a host and without a query. Refuses to send a key
/// over plain http to another machine.
Status check_endpoint(const Endpoint& endpoint);

/// What post_json() needs to know about one request besides its body.
struct PostOptions {
  /// Returns true if a JSON object is a reply. Any other answer is retried.
  std::function<bool(const nlohmann::json&)> is_reply = {};
  /// Gets a text before each retry (RetryHooks::notice), without the key.
  std::function<void(const std::string&)> notice = {};
};

/// Posts `body` to base_url + path and returns the answer, which is a JSON object. After the last
/// retry it need not be a reply. An HTTP error status becomes an Error with the provider's message.
Result<nlohmann::json> post_json(const Endpoint& endpoint, const std::string& path,
                                 const std::map<std::string, std::string>& headers,
                                 const nlohmann::json& body, const PostOptions& options = {});

/// Returns a `corrupt` Error for an answer that is JSON but not a reply. If the answer has an error
/// message of the provider, the Error quotes it.
tl::unexpected<Error> unusable(const Endpoint& endpoint, const std::string& what,
                               const nlohmann::json& answer);

/// Removes the key from a reply's text. An endpoint could echo the key, and transcripts store
/// replies. A key that is too short to be secret is not removed: local servers accept keys such as
/// "EMPTY", and such a word can occur in the code.
std::string reply_text(const Endpoint& endpoint, std::string text);

}  // namespace assay::agents
