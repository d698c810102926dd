// Suggests the cause of a wrong result from the description of the wrong outputs.
//
//   const std::string hint = wrong_hint(verdict);
//   // "Check the store's mask and the grid."
//
// Thread-safe: the function has no state.
#pragma once

#include <string>

#include "sandbox/job/job.h"

namespace assay::tools {

/// Returns the likely cause, from all wrong elements of the first wrong case. If the wrong elements
/// have nothing in common, names the usual causes.
std::string wrong_hint(const sandbox::Verdict& verdict);

}  // namespace assay::tools
