// Checks HTTP headers, without an HTTP library. The headers Host and Origin decide whether a client
// may talk to this server. In revision 2026-07-28, the headers Mcp-Method, Mcp-Name and Mcp-Param-*
// repeat (mirror) values of the body, so that a proxy can route a request without reading its body.
// These headers must agree with the body. A tool's schema names the arguments that clients mirror:
//
//   const nlohmann::json region = {{"type", "string"}, {"x-mcp-header", "Region"}};
//   const Result<std::vector<ParamHeader>> headers =
//       param_headers({{"properties", {{"region", region}}}});
//   if (headers) show(headers->front().header);  // "Mcp-Param-Region"
//
// Pure functions, thread-safe.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/mcp/protocol/jsonrpc.h"

namespace assay::mcp {

/// Protects against DNS rebinding: decides from the Host header whether a request is allowed.
/// `bound_host` is the host that the server listens on. A loopback server accepts only loopback
/// names. Any other server accepts its own name, the name of the machine and IP literals. IP
/// literals are safe, because rebinding needs a name that the attacker controls.
bool host_allowed(std::string_view host_header, std::string_view bound_host);
/// Returns true when `host_header`, with or without a port, contains the host `name`. The
/// comparison ignores case.
bool host_is(std::string_view host_header, std::string_view name);
/// Applies the rule of host_allowed() to the host in `origin_header`, which has the form
/// scheme://host[:port]. The origin "null" is refused.
bool origin_allowed(std::string_view origin_header, std::string_view bound_host);

/// Decodes "=?base64?...?=". Returns other values unchanged, and nothing for malformed base64.
std::optional<std::string> decode_header_value(std::string_view value);
/// Returns `value`, or its base64 form when a plain header cannot contain it.
std::string encode_header_value(std::string_view value);

/// A function that returns the value of the header `name`, or nothing if the request has no such
/// header.
using HeaderLookup = std::function<std::optional<std::string>(const char* name)>;

/// Returns the value in the body that the header Mcp-Name mirrors, or nothing when the method has
/// no such value.
std::optional<std::string> mirrored_name(std::string_view method, const nlohmann::json& params);

/// Compares the headers that mirror the body of a stateless request with this body. Returns a
/// sentence about the first mismatch, or nothing when all match.
std::optional<std::string> header_mismatch(const Message& message, const HeaderLookup& header);

/// Returns true when `accept` (a list of media types) includes `media_type`, such as
/// "text/event-stream".
bool accepts(std::string_view accept, std::string_view media_type);

/// An argument of a tool that HTTP clients mirror into a header.
struct ParamHeader {
  std::string header;             // Mcp-Param-...
  std::vector<std::string> path;  // property names, from the arguments object down
};

/// Returns the arguments of a tool that clients mirror. Errors: invalid_argument if a header name
/// is illegal or used twice; if the property is not a string, integer or boolean; or if the
/// property is nested in anything but `properties`.
Result<std::vector<ParamHeader>> param_headers(const nlohmann::json& input_schema);

/// Compares the headers with the arguments. Returns a sentence about the first mismatch, or nothing
/// when all match. An argument that is missing or null must have no header.
std::optional<std::string> param_mismatch(const std::vector<ParamHeader>& headers,
                                          const nlohmann::json& arguments,
                                          const HeaderLookup& header);

}  // namespace assay::mcp
