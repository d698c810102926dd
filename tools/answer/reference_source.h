// What of reference.py an agent sees: `reference` and the functions it calls. How the judge draws
// inputs stays out of it, because that tells what the hidden cases are made of. Pure, thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace assay::tools {

/// Imports and constants stay; top-level functions and classes that `reference` does not reach go.
/// Works on the text of a formatted module: a top-level definition begins in column 0 and lasts
/// until the next line that does.
std::string shown_reference(const std::string& source);

struct ReferenceWithin {
  std::string text;
  std::vector<std::string> left_out;  // names of definitions
};

/// The same in at most `room` bytes: `reference` first of all, then what it calls, then what that
/// calls; imports last. The first definition that does not fit is last in the text, as many lines
/// of it as do, and counts as left out; others are whole. The text is empty when there is no room
/// for `reference` alone.
ReferenceWithin reference_within(const std::string& source, std::size_t room);

}  // namespace assay::tools
