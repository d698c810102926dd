// Parses the header of a frame: JSON text from a process that may be hostile. Depth and number of
// values are counted in the text before any object is built, because four bytes of text can become
// a hundred bytes of objects. Pure functions.
//
//   Result<nlohmann::json> header = parse_header(text, kCandidateHeader.values);
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/result.h"

namespace assay::sandbox {

inline constexpr int kMaxHeaderNesting = 32;

/// Limits of one header.
struct HeaderCaps {
  std::uint32_t bytes = 0;
  std::size_t values = 0;
};

/// Parses a header: one JSON object with a string `type`, nested at most kMaxHeaderNesting deep, of
/// at most `most_values`. Errors: corrupt.
Result<nlohmann::json> parse_header(std::string_view text, std::size_t most_values);

/// Depth and number of values of a JSON text, counted without recursion. Meaningless for text that
/// is not JSON.
struct TextShape {
  int nesting = 0;         // of arrays and objects, the deepest
  std::size_t values = 1;  // no fewer than there are: an empty array counts as one with an entry
};
TextShape shape_of(std::string_view text);

}  // namespace assay::sandbox
