// Parses JSON that somebody else wrote. A text that nests too deeply is not parsed, because it
// could exhaust the stack: the parser and the destructor of a value call themselves for each level.
//
//   if (const Result<nlohmann::json> document = parse_json(body, 64)) use(*document);
//
// All functions are pure and thread-safe.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace assay {

/// Returns true when brackets nest deeper than `max_depth`. The function scans the bytes once and
/// skips brackets in strings. It does not check that the JSON is well-formed.
bool deeper_than(std::string_view bytes, int max_depth);

/// Parses the text. Errors: resource_exhausted if arrays and objects nest deeper than `max_depth`;
/// corrupt if the text is not JSON in UTF-8. The message begins with a verb: "nests deeper than 64
/// levels".
Result<nlohmann::json> parse_json(std::string_view text, int max_depth);

}  // namespace assay
