// The CPU device works without a GPU. Triton's interpreter runs the small cases, and the judge
// compares the outputs. At the same time the public cases are compiled for
// SandboxConfig::compile_target. The compilation finds compiler errors and kernels that exceed the
// GPU's limits. It also yields the registers, the spills, the occupancy and the hints of the
// verdict. If a case was run, the verdict has the tier `interpreter`. Nothing is timed.
#pragma once

#include <memory>

#include "sandbox/job/config.h"
#include "sandbox/job/device.h"

namespace assay::sandbox {

/// Starts the processes of the device's candidate pool and judge. Returns without waiting for them.
std::unique_ptr<Device> make_cpu_device(const SandboxConfig& config);

}  // namespace assay::sandbox
