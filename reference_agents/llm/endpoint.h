// What the HTTP clients of both protocols share: where to send, the key, and how an answer's status
// becomes an Error. A key is held here only; it leaves in a header, and every text that might carry
// it back is redacted first.
//
//   Result<json> answer = post_json(endpoint, "/chat/completions", headers, body);
//   if (!field(*answer, "choices", 0)) return unusable(endpoint, "the answer has no choices",
//   *answer);
//
// Values, free functions; thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "reference_agents/llm/retry.h"

namespace assay::agents {

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
