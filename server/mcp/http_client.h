// HTTP(S) requests for the MCP client and the LLM clients. One of the two places that include httplib.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace assay::mcp {

struct HttpResponse {
  int status = 0;
  std::multimap<std::string, std::string> headers;   // names in lower case
  std::string body;
};

/// One POST. `url` is http:// or https://. An HTTP error status is a response, not an Error; an Error is a failed
/// connection or a time-out. Certificates are verified.
Result<HttpResponse> http_post(const std::string& url, const std::map<std::string, std::string>& headers, const std::string& body,
                               const std::string& content_type, std::int64_t timeout_ms, std::int64_t max_response_bytes = 16LL << 20);

}  // namespace assay::mcp
