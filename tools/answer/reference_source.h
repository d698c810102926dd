// Selects the part of a reference.py that an agent may see: `reference` and the functions that it
// calls. The code that draws inputs is left out, because it describes the hidden cases. Pure
// functions, thread-safe.
//
//   const std::string shown = shown_reference(op.reference_source);
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace assay::tools {

/// Keeps imports and constants, and removes top-level functions and classes that `reference` does
/// not reach. Works on the text of a formatted module: a top-level definition begins in column 0
/// and ends before the next line that begins there.
std::string shown_reference(const std::string& source);

struct ReferenceWithin {
  std::string text;
  std::vector<std::string> left_out;  // names of the definitions that are missing or cut
};

/// Does the same in at most `room` bytes. `reference` comes first, then the functions that it
/// calls, then their callees; imports come last. Of the first definition that does not fit, the
/// text ends with as many lines as fit; that definition counts as left out. All others are whole.
/// The text is empty if there is no room for `reference` alone.
ReferenceWithin reference_within(const std::string& source, std::size_t room);

}  // namespace assay::tools
