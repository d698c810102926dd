// The HIP device runs jobs on an AMD GPU, in the same stages as the CUDA device
// (sandbox/device/cuda.h). It has never run on AMD hardware: docs/explanation/amd.md says what is
// known about it, and from which evidence.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/job/device.h"
#include "sandbox/pool/probe.h"

namespace assay::sandbox {

/// Starts the device's processes and returns without waiting for them. Errors: unavailable if
/// there is no such GPU, or if it cannot be used; the message names the remedy.
Result<std::unique_ptr<Device>> make_hip_device(const SandboxConfig& config, int index);

/// Returns why the runtime's GPU number `index` cannot be used, or an empty text if it can. `found`
/// is what the launcher found with the driver "hip".
std::string hip_problem(const DriverProbe& found, int index);

}  // namespace assay::sandbox
