// Where the GPU's time went, from a plan's timeline. Pure functions.
#pragma once

#include <optional>
#include <vector>

#include "sandbox/job/job.h"

namespace assay::sandbox {

/// The part of the submission's kernels, 0 to 1; nothing without a timeline.
std::optional<double> own_share(const std::vector<OperationTime>& timeline);

/// Calls the timeline's kernels by the names that they are reported under, where their images have
/// others.
void use_reported_names(std::vector<OperationTime>& timeline,
                        const std::vector<KernelReport>& kernels);

/// Gives each kernel its part of the timeline, by name: `kernels` are those of the timeline's case.
void add_time_shares(std::vector<KernelReport>& kernels,
                     const std::vector<OperationTime>& timeline);

}  // namespace assay::sandbox
