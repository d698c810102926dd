// Checks of HTTP headers that need no HTTP library. Host and Origin say if a client may talk to
// this server. Headers that mirror the body, such as Mcp-Method and Mcp-Param-*, let a proxy route
// a request without reading its body (2026-07-28), so they must agree with the body. A tool's
// schema names the arguments that clients mirror:
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

/// Guards against DNS rebinding. `bound_host` is the host that the server listens on. A loopback
/// server accepts only loopback names. Any other server accepts its own name, the name of the
/// machine and IP literals, because rebinding needs a name that the attacker controls.
bool host_allowed(std::string_view host_header, std::string_view bound_host);
/// True when `host_header`, with or without a port, names `name`. The comparison ignores case.
bool host_is(std::string_view host_header, std::string_view name);
/// `origin_header` is scheme://host[:port]. "null" is refused.
bool origin_allowed(std::string_view origin_header, std::string_view bound_host);

/// Decodes "=?base64?...?=". Other values stay as they are. Returns nothing for malformed base64.
std::optional<std::string> decode_header_value(std::string_view value);
/// Returns `value`, or its base64 form when a plain header cannot carry it.
std::string encode_header_value(std::string_view value);

/// Returns the value of a header by name, or nothing.
using HeaderLookup = std::function<std::optional<std::string>(const char* name)>;

/// Returns the value in the body that Mcp-Name mirrors, if the method has one.
std::optional<std::string> mirrored_name(std::string_view method, const nlohmann::json& params);

/// Compares the mirrored headers of a stateless request with its body. Returns the first problem as
/// a sentence, or nothing when they match.
std::optional<std::string> header_mismatch(const Message& message, const HeaderLookup& header);

/// True when `accept` (a list of media types) admits `media_type`, such as "text/event-stream".
bool accepts(std::string_view accept, std::string_view media_type);

/// An argument of a tool that HTTP clients mirror into a header.
struct ParamHeader {
  std::string header;             // Mcp-Param-...
  std::vector<std::string> path;  // property names, from the arguments object down
};

/// Returns the mirrored arguments of a tool. An Error when the name of a header is illegal or used
/// twice, or when the property is no string, integer or boolean below `properties` alone.
Result<std::vector<ParamHeader>> param_headers(const nlohmann::json& input_schema);

/// Compares the headers with the arguments. Returns the first problem as a sentence, or nothing
/// when they match. An argument that is missing or null has no header.
std::optional<std::string> param_mismatch(const std::vector<ParamHeader>& headers,
                                          const nlohmann::json& arguments,
                                          const HeaderLookup& header);

}  // namespace assay::mcp
