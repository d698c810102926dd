// Checks identifiers, and finds the known name that is most similar to a misspelt name. The
// functions have no state and are thread-safe.
//
//   const std::vector<std::string_view> known = {"vector_add", "gelu_tanh"};
//   nearest("vectoradd", known);  // "vector_add"
#pragma once

#include <span>
#include <string_view>

namespace assay::operators {

/// Returns whether `text` matches [a-z][a-z0-9_]* and has at most 64 characters.
bool is_identifier(std::string_view text);

/// Returns the name with the smallest edit distance to `text`. Leaves out a name if its distance is
/// more than a third of the longer text's length. Returns an empty name if no name remains, or if
/// `text` has more than 128 characters.
std::string_view nearest(std::string_view text, std::span<const std::string_view> names);

}  // namespace assay::operators
