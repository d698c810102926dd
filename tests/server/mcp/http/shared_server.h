// Defines an HTTP server that many tests share, and functions that post messages to a server.
#pragma once

#include <map>
#include <string>

#include "server/mcp/client/http_client.h"
#include "tests/server/mcp/fixture.h"

namespace assay::mcp::test {

inline RunningHttp& shared_server() {
  static RunningHttp server;
  return server;
}

struct Answer {
  int status = 0;
  json body;
  std::multimap<std::string, std::string> headers;
};

inline Answer post(const RunningHttp& server, const json& message,
                   std::map<std::string, std::string> headers = {}) {
  headers.emplace("Accept", "application/json, text/event-stream");
  auto response = http_post(server.url(), headers, dump(message), "application/json", kTimeoutMs);
  if (!response) FAIL(response.error().message);
  return {response->status,
          response->body.empty() ? json() : json::parse(response->body, nullptr, false),
          response->headers};
}

/// Returns the headers that a stateless request must have if its body has this method and name.
inline std::map<std::string, std::string> mirror(const std::string& method,
                                                 const std::string& name = "") {
  std::map<std::string, std::string> headers = {{kHeaderVersion, std::string(kStatelessVersion)},
                                                {kHeaderMethod, method}};
  if (!name.empty()) headers[kHeaderName] = name;
  return headers;
}

}  // namespace assay::mcp::test
