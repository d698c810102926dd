// Checks HTTP headers, without an HTTP library. The headers Host and Origin decide whether a client
// may use this server. In revision 2026-07-28, the headers Mcp-Method, Mcp-Name and Mcp-Param-*
// must repeat ("mirror") values of the body, so that a proxy can route a request without reading
// its body. A tool's schema names the arguments that clients mirror:
//
//   const nlohmann::json region = {{"type", "string"}, {"x-mcp-header", "Region"}};
//   const Result<std::vector<ParamHeader>> headers =
//       param_headers({{"properties", {{"region", region}}}});
//   if (headers) show(headers->front().header);  // "Mcp-Param-Region"
//
// Pure functions, thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

/// Decides from the Host header whether a request is allowed, to protect the server against DNS
/// rebinding. `bound_host` is the host that the server listens on. Every server accepts loopback
/// names. A server on a loopback address accepts nothing else. Any other server also accepts its
/// own name, the name of the machine and IP addresses. A Host header with an IP address is safe,
/// because rebinding needs a name that the attacker controls.
bool host_allowed(std::string_view host_header, std::string_view bound_host);
/// Returns true if the host in `host_header` is `name`. The header may also contain a port. The
/// comparison ignores case.
bool host_is(std::string_view host_header, std::string_view name);
/// Applies the rule of host_allowed() to the host in `origin_header`, which has the form
/// http://host[:port] or https://host[:port]. Any other origin, such as "null", is refused.
bool origin_allowed(std::string_view origin_header, std::string_view bound_host);

/// Decodes a value of the form "=?base64?...?=". Returns any other value unchanged. Returns nothing
/// if the base64 text is malformed.
std::optional<std::string> decode_header_value(std::string_view value);
/// Returns `value`. If a plain header cannot contain it, returns its base64 form instead.
std::string encode_header_value(std::string_view value);

/// A function that returns the value of the header `name`, or nothing if the request has no such
/// header.
using HeaderLookup = std::function<std::optional<std::string>(const char* name)>;

/// Returns the value in the body that the header Mcp-Name must repeat. Returns nothing if the
/// method has no such value.
std::optional<std::string> mirrored_name(std::string_view method, const nlohmann::json& params);

/// Checks that the headers of a stateless request repeat the values of its body. Returns a sentence
/// about the first missing or different header, or nothing if there is none.
std::optional<std::string> header_mismatch(const Message& message, const HeaderLookup& header);

/// Returns true when `accept` (a list of media types) includes `media_type`, such as
/// "text/event-stream". A wildcard such as "*/*" does not count.
bool accepts(std::string_view accept, std::string_view media_type);

/// An argument of a tool whose value HTTP clients repeat in a header.
struct ParamHeader {
  std::string header;             // Mcp-Param-...
  std::vector<std::string> path;  // property names, from the arguments object down
};

/// Returns the arguments of a tool that clients repeat in headers. Errors: invalid_argument if a
/// header's name is illegal or used twice; if such an argument is not a string, integer or boolean;
/// or if it is nested in anything but `properties`.
Result<std::vector<ParamHeader>> param_headers(const nlohmann::json& input_schema);

/// Compares the headers that repeat arguments with the arguments. Returns a sentence about the
/// first missing or different header, or nothing if there is none. If an argument is missing or
/// null, its header must be missing too.
std::optional<std::string> param_mismatch(const std::vector<ParamHeader>& headers,
                                          const nlohmann::json& arguments,
                                          const HeaderLookup& header);

}  // namespace assay::mcp
