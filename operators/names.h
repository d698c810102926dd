// Names: what counts as an identifier here, and which known name a misspelt one was meant to be.
// Pure functions, thread-safe.
//
//   nearest("vectoradd", {"vector_add", "gelu_tanh"})  ->  "vector_add"
#pragma once

#include <span>
#include <string_view>

namespace assay::operators {

/// [a-z][a-z0-9_]*, at most 64 characters.
bool is_identifier(std::string_view text);

/// The name with the smallest edit distance to `text`, or empty when none is near (more than a
/// third of the longer one apart).
std::string_view nearest(std::string_view text, std::span<const std::string_view> names);

}  // namespace assay::operators
