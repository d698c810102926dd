// Selects the part of a reference.py that an agent may see: `reference` and the definitions that it
// needs. The code that draws inputs is left out, because it describes the hidden cases. Pure
// functions, thread-safe.
//
//   const std::string shown = shown_reference(op.reference_source);
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace assay::tools {

/// Returns the source without the top-level functions, classes and constants that `reference` does
/// not reach. Imports stay, except those of the harness. The function works on the text of a
/// formatted module: `reference` reaches a definition if its text contains the definition's name. A
/// top-level definition begins in column 0 and ends before the next line whose first character is
/// neither white space nor a closing bracket.
std::string shown_reference(const std::string& source);

struct ReferenceWithin {
  std::string text;
  std::vector<std::string> left_out;  // names of the definitions that are missing or cut
};

/// Returns the same text as shown_reference(), but at most `room` bytes of it. If not everything
/// fits, the imports are left out. `reference` is chosen first, then the definitions that it
/// mentions, then the definitions that those mention. If room remains, the text ends with the first
/// lines of the first definition that does not fit. That definition counts as left out. All other
/// definitions are whole. The text is empty if there is no room for `reference` alone.
ReferenceWithin reference_within(const std::string& source, std::size_t room);

}  // namespace assay::tools
