// What the HTTP clients of both protocols share: where to send, the key, and how an answer's status becomes an Error.
// A key is held here only; it leaves in a header, and every text that might carry it back is redacted first.
// Values, free functions; thread-safe.
#pragma once

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
  RetryPolicy policy;
  RetryClock clock = RetryClock::real();
};

/// http or https with a host; a key is sent in clear to this machine only.
Status check_endpoint(const Endpoint& endpoint);

/// Posts `body` to base_url + path and returns the parsed answer; an HTTP error status becomes an Error with the provider's message.
Result<nlohmann::json> post_json(const Endpoint& endpoint, const std::string& path, const std::map<std::string, std::string>& headers,
                                 const nlohmann::json& body);

}  // namespace assay::agents
