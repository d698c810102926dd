// What can be said about a kernel's speed without running it: from its resources, its grid and the
// least traffic of the case.
//
//   std::vector<std::string> hints = static_hints(kernels, "cuda:90", cost_bytes);
//
// A hint is one sentence with the number that shows it and what to change. A hint that says "would
// be slow" marks a submission that a GPU would run far below what it can do; reports count on these
// words. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/job/job.h"

namespace assay::sandbox {

/// Fills occupancy and its limiter from the kernel's own figures; leaves a kernel of an unknown
/// target as it is.
void fill_occupancy(KernelReport& kernel);

/// `cost_bytes`: the least traffic of the case the kernels were recorded for; 0 when unknown.
std::vector<std::string> static_hints(const std::vector<KernelReport>& kernels,
                                      std::string_view target, double cost_bytes);

}  // namespace assay::sandbox
