// What a CUDA device says of itself, and what its errors mean. Needs cuInit, no context.
// Thread-safe.
#pragma once

#include <string>

#include "base/result.h"
#include "sandbox/launcher/driver/cuda_api.h"
#include "sandbox/launcher/driver/gpu_driver.h"

namespace assay::sandbox::cuda {

/// cuInit and the number of devices. `unavailable` with the reason when there is no driver or no
/// device.
Result<int> count_devices(const CudaApi& api);

Result<DeviceFacts> read_device_facts(const CudaApi& api, int index);

/// Whose fault a CUresult is; kSuccess has none. `doing` is what was being done, for a person.
LaunchError classify(const CudaApi& api, CUresult result, const std::string& doing);

}  // namespace assay::sandbox::cuda
