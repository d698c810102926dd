// The text of a frame's header: JSON from a process that may be hostile, parsed under a depth cap. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/result.h"

namespace assay::sandbox {

/// Parses a header: one JSON object with a string `type`, nested at most kMaxHeaderNesting deep. Errors: corrupt.
Result<nlohmann::json> parse_header(std::string_view text);

/// Deepest nesting of arrays and objects in a JSON text, read without recursion. Meaningless for text that is no JSON.
int nesting_of(std::string_view text);

}  // namespace assay::sandbox
