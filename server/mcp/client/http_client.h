// HTTP(S) requests for the MCP client and the LLM clients. One of the two places that include
// httplib.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::mcp {

struct HttpResponse {
  int status = 0;
  std::multimap<std::string, std::string> headers;  // names in lower case
  std::string body;
};

/// One POST. `url` is http:// or https://. An HTTP error status is a response, not an Error; an
/// Error is a failed connection or a time-out. Certificates are verified.
Result<HttpResponse> http_post(const std::string& url,
                               const std::map<std::string, std::string>& headers,
                               const std::string& body, const std::string& content_type,
                               std::int64_t timeout_ms,
                               std::int64_t max_response_bytes = 16LL << 20);

/// A request whose body is taken as it arrives. Both functions may be null.
struct HttpExchange {
  std::string method = "POST";
  std::map<std::string, std::string> headers = {};
  std::string body = {}, content_type = {};  // no content type: no body
  std::int64_t timeout_ms = 300'000;         // for the whole response
  std::int64_t max_response_bytes = 16LL << 20;
  /// Each part of the body, besides HttpResponse::body; false ends the exchange by closing the
  /// connection.
  std::function<bool(std::string_view part)> arrived = {};
  /// Asked from another thread; true ends the exchange with `cancelled`, by closing the connection.
  std::function<bool()> cancelled = {};
};

Result<HttpResponse> http_exchange(const std::string& url, const HttpExchange& exchange);

}  // namespace assay::mcp
