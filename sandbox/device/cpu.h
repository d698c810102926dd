// The CPU device works without a GPU. Triton's interpreter runs the small cases, the judge
// compares, and a recording for a Hopper GPU gives registers, spills, occupancy and hints. Verdicts
// have tier `interpreter`; nothing is timed.
#pragma once

#include <memory>

#include "sandbox/job/config.h"
#include "sandbox/job/device.h"

namespace assay::sandbox {

/// Starts the processes of its pool and its judge, and returns without waiting for them.
std::unique_ptr<Device> make_cpu_device(const SandboxConfig& config);

}  // namespace assay::sandbox
