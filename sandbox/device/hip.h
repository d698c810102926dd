// The HIP device runs jobs on an AMD GPU, in the same stages as the CUDA device
// (sandbox/device/cuda.h). It has never run on AMD hardware: docs/explanation/amd.md says what is
// known about it, and from which evidence.
#pragma once

#include <memory>

#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/job/device.h"

namespace assay::sandbox {

/// Starts the device's processes and returns without waiting for them. Errors: unavailable if
/// there is no such GPU, or if it cannot be used; the message names the remedy.
Result<std::unique_ptr<Device>> make_hip_device(const SandboxConfig& config, int index);

}  // namespace assay::sandbox
