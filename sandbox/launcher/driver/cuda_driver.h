// CudaDriver: GpuDriver over the CUDA driver API, which is loaded at run time; no CUDA is needed to
// build or to start.
//
//   LaunchResult<std::unique_ptr<GpuDriver>> gpu = open_cuda_driver(0);        // makes the
//   context: about 0.1 s Result<std::vector<DeviceFacts>> devices = list_cuda_devices(); // no
//   context, no GPU memory
//
// It uses the device's primary context, one non-blocking stream and two events. A gate is a wait of
// the stream on a word of mapped host memory. Not thread-safe.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "sandbox/launcher/driver/gpu_driver.h"

namespace assay::sandbox {

/// `internal_error` when there is no driver or no such device; the message says which devices there
/// are.
LaunchResult<std::unique_ptr<GpuDriver>> open_cuda_driver(int index);

/// The devices by index; `unavailable` with the reason when there is none.
Result<std::vector<DeviceFacts>> list_cuda_devices();

}  // namespace assay::sandbox
