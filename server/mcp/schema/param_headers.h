// Tool parameters that HTTP clients of 2026-07-28 mirror into headers (x-mcp-header in the input
// schema), so that what stands between may route by them. The header must say what the body says.
//
//   "region": {"type": "string", "x-mcp-header": "Region"}      ->  Mcp-Param-Region
//
// Pure functions, thread-safe.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/mcp/protocol/http_headers.h"

namespace assay::mcp {

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
