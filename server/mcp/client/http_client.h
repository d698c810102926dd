// Sends HTTP(S) requests for the MCP client and the LLM clients. Only http_client.cc includes
// httplib.
//
//   const Result<HttpResponse> response =
//       http_post("http://127.0.0.1:8080/mcp", {}, "{}", "application/json", 10'000);
//   if (response && response->status == 200) show(response->body);
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace assay::mcp {

struct HttpResponse {
  int status = 0;
  std::multimap<std::string, std::string> headers;  // names in lower case
  std::string body;
};

/// Sends one POST. `url` begins with http:// or https://. A response with an HTTP error status is
/// returned as a response. An Error means that the connection failed or timed out, that the
/// response is too large, or that the URL or a header is invalid. Certificates are verified.
Result<HttpResponse> http_post(const std::string& url,
                               const std::map<std::string, std::string>& headers,
                               const std::string& body, const std::string& content_type,
                               std::int64_t timeout_ms,
                               std::int64_t max_response_bytes = 16LL << 20);

/// A request whose response can be read while it arrives.
struct HttpExchange {
  std::string method = "POST";
  std::map<std::string, std::string> headers = {};
  std::string body = {}, content_type = {};  // empty content type: no body
  std::int64_t timeout_ms = 300'000;         // the time limit of the whole response
  std::int64_t max_response_bytes = 16LL << 20;
  /// Receives each part of the body when it arrives. If the function returns false, the exchange
  /// ends and the connection is closed; the returned response then has no status and no headers.
  /// HttpResponse::body contains all parts too. May be null.
  std::function<bool(std::string_view part)> arrived = {};
  /// The caller requests a stop to end the exchange. The Error is then `cancelled`, and the
  /// connection is closed.
  std::stop_token stop = {};
};

Result<HttpResponse> http_exchange(const std::string& url, const HttpExchange& exchange,
                                   const Clock& clock = system_clock());

}  // namespace assay::mcp
