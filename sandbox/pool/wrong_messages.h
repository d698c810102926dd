// Reads the descriptions of wrong outputs in the judge's messages.
//
//   HeaderReader in(frame.header, "compared");
//   const std::vector<WrongOutput> wrong = read_wrong_outputs(in);
//
// Thread-safe: the function has no state.
#pragma once

#include <vector>

#include "sandbox/job/wrong_output.h"
#include "sandbox/wire/header_reader.h"

namespace assay::sandbox {

/// Returns the outputs in the field `wrong`, or nothing if the field is absent. Records an error in
/// `in` if a description is malformed.
std::vector<WrongOutput> read_wrong_outputs(HeaderReader& in);

}  // namespace assay::sandbox
