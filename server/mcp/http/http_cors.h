// Lets web pages of named origins use the server from a browser (CORS). A page of any other origin
// gets no such header, so the browser does not let it read the answers. There is no wildcard and no
// Access-Control-Allow-Credentials: clients send their token in the header Authorization, and the
// server has no cookies.
//
//   add_cors_headers(request.lookup(), options, response);
//   if (const auto answer = preflight_reply(request, options)) return *answer;
//
// The functions have no state and are thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/mcp/http/http_request.h"
#include "server/mcp/http/http_response.h"
#include "server/mcp/http/http_server.h"

namespace assay::mcp {

/// Checks an origin of HttpOptions::allowed_origins, such as https://chat.example.org:8443. Error:
/// invalid_argument for any other form, and for "null" and "*".
Status check_origin(std::string_view origin);

/// Returns true if the origin is one of HttpOptions::allowed_origins.
bool origin_is_listed(const HttpOptions& options, std::string_view origin);

/// Adds the headers that allow a browser to read the response, if the request's origin is listed.
void add_cors_headers(const HeaderLookup& header, const HttpOptions& options,
                      ResponseWriter& response);

/// Answers a preflight, with which a browser asks whether a page may send a request. Returns
/// nothing if the request is no preflight of a listed origin.
std::optional<Reply> preflight_reply(const HttpRequest& request, const HttpOptions& options);

}  // namespace assay::mcp
