// CudaDriver: GpuDriver over the CUDA driver API, which is loaded at run time; no CUDA is needed to
// build or to start.
//
//   LaunchResult<std::unique_ptr<GpuDriver>> gpu = open_cuda_driver(0);
//   Result<std::vector<DeviceFacts>> devices = list_cuda_devices();
//
// open_cuda_driver() makes the context, which takes about 0.1 s; list_cuda_devices() makes none.
// The driver uses the device's primary context, one non-blocking stream and two events. A gate is a
// wait of the stream on a word of mapped host memory. Not thread-safe.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "sandbox/launcher/driver/gpu_driver.h"

namespace assay::sandbox {

/// Errors: `internal_error` without a driver or without such a device; the message lists the
/// devices that exist.
LaunchResult<std::unique_ptr<GpuDriver>> open_cuda_driver(int index);

/// Returns the devices by index. Errors: `unavailable`, with the reason, if there is none.
Result<std::vector<DeviceFacts>> list_cuda_devices();

}  // namespace assay::sandbox
