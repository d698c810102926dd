// Finds out about a kernel's speed without running it: from its resources, its grid and the least
// traffic of the case.
//
//   std::vector<Hint> hints = static_hints(kernels, "cuda:90", "large", cost_bytes);
//
// A hint is one sentence with the number that shows it and what to change. A hint of the kind
// would_be_slow marks a submission that a GPU would run far below what it can do; reports label
// such a pass "pass, slow". Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/job/job.h"

namespace assay::sandbox {

/// Fills occupancy and its limiter from the kernel's own figures; leaves a kernel of an unknown
/// target as it is.
void fill_occupancy(KernelReport& kernel);

/// Returns hints about kernels that were recorded for the case `case_id`. `cost_bytes` is the least
/// traffic of that case; 0 when unknown.
std::vector<Hint> static_hints(const std::vector<KernelReport>& kernels, std::string_view target,
                               const std::string& case_id, double cost_bytes);

}  // namespace assay::sandbox
