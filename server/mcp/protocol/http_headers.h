// The checks on HTTP headers, apart from any HTTP library: who may talk to us (Host, Origin), and
// whether the headers that mirror the body say the same as the body (2026-07-28). Pure functions,
// thread-safe.
//
// Tool parameters that HTTP clients of 2026-07-28 mirror into headers (x-mcp-header in the input
// schema), so that what stands between may route by them. The header must say what the body says.
//
//   "region": {"type": "string", "x-mcp-header": "Region"}      ->  Mcp-Param-Region
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

/// Guards against DNS rebinding. `bound_host` is what the server listens on. A loopback server
/// answers to loopback names only; any other one to its own name, the machine's name and IP
/// literals, since rebinding needs a name that the attacker controls.
bool host_allowed(std::string_view host_header, std::string_view bound_host);
/// `host_header` (with or without a port) names `name`; compared without case.
bool host_is(std::string_view host_header, std::string_view name);
/// `origin_header` as sent: scheme://host[:port]. "null" is refused.
bool origin_allowed(std::string_view origin_header, std::string_view bound_host);

/// "=?base64?...?=" decoded; other values unchanged; nothing when malformed.
std::optional<std::string> decode_header_value(std::string_view value);
/// `value`, or its base64 form when it would not survive as a plain header value.
std::string encode_header_value(std::string_view value);

/// The value of a header by name, or nothing.
using HeaderLookup = std::function<std::optional<std::string>(const char* name)>;

/// The value in the body that Mcp-Name mirrors, where the method has one.
std::optional<std::string> mirrored_name(std::string_view method, const nlohmann::json& params);

/// What is wrong with the mirrored headers of a stateless request, as a sentence; nothing when they
/// match.
std::optional<std::string> header_mismatch(const Message& message, const HeaderLookup& header);

/// True when `accept` (a list of media types) admits `media_type`, such as "text/event-stream".
bool accepts(std::string_view accept, std::string_view media_type);

struct ParamHeader {
  std::string header;             // Mcp-Param-...
  std::vector<std::string> path;  // of property names, from the arguments object
};

/// An Error when a header's name is not legal or not unique, or the property is no string, integer
/// or boolean reached by `properties` alone.
Result<std::vector<ParamHeader>> param_headers(const nlohmann::json& input_schema);

/// What is wrong, as a sentence; nothing when every header matches its argument. An argument that
/// is missing or null has no header.
std::optional<std::string> param_mismatch(const std::vector<ParamHeader>& headers,
                                          const nlohmann::json& arguments,
                                          const HeaderLookup& header);

}  // namespace assay::mcp
