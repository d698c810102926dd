// Reads the facts of a CUDA device, and classifies the driver's errors. Needs cuInit but no
// context. Thread-safe.
#pragma once

#include <string>

#include "base/result.h"
#include "sandbox/launcher/driver/cuda_api.h"
#include "sandbox/launcher/driver/gpu_driver.h"

namespace assay::sandbox::cuda {

/// Calls cuInit and returns the number of devices. Errors: `unavailable`, with the reason, without
/// a driver or a device.
Result<int> count_devices(const CudaApi& api);

Result<DeviceFacts> read_device_facts(const CudaApi& api, int index);

/// Classifies a CUresult: the submission's device code, the launch, or this launcher. kSuccess is
/// no error. `doing` describes the call in the message.
LaunchError classify(const CudaApi& api, CUresult result, const std::string& doing);

}  // namespace assay::sandbox::cuda
