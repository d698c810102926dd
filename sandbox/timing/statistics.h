// Computes from a plan's timeline which kernels took the GPU's time. Pure functions.
#pragma once

#include <optional>
#include <vector>

#include "sandbox/job/job.h"

namespace assay::sandbox {

/// Returns the share of the submission's kernels, 0 to 1; nothing without a timeline.
std::optional<double> own_share(const std::vector<OperationTime>& timeline);

/// Renames the timeline's kernels as the reports name them. A kernel of C++ has another name in its
/// image.
void use_reported_names(std::vector<OperationTime>& timeline,
                        const std::vector<KernelReport>& kernels);

/// Sets each kernel's share of the timeline, by name. `kernels` are those of the timeline's case.
void add_time_shares(std::vector<KernelReport>& kernels,
                     const std::vector<OperationTime>& timeline);

}  // namespace assay::sandbox
