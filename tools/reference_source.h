// What of reference.py an agent sees: `reference` and the functions it calls. How the judge draws inputs stays out of it, because that
// tells what the hidden cases are made of. Pure, thread-safe.
#pragma once

#include <string>

namespace assay::tools {

/// Imports and constants stay; top-level functions and classes that `reference` does not reach go. Works on the text of a formatted
/// module: a top-level definition begins in column 0 and lasts until the next line that does.
std::string shown_reference(const std::string& source);

}  // namespace assay::tools
