// The CPU device: no GPU anywhere. Triton's interpreter runs the cases that are small enough, the
// judge compares, and a recording for a Hopper GPU gives registers, spills, occupancy and hints.
// Verdicts are of tier `interpreter`; nothing is timed.
#pragma once

#include <memory>

#include "sandbox/job/config.h"
#include "sandbox/job/device.h"

namespace assay::sandbox {

/// Starts warming up its pool and its judge, and returns without waiting.
std::unique_ptr<Device> make_cpu_device(const SandboxConfig& config);

}  // namespace assay::sandbox
