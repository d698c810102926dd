// HipDriver: GpuDriver over AMD's HIP, which is loaded at run time; no ROCm is needed to build or
// to start.
//
//   LaunchResult<std::unique_ptr<GpuDriver>> gpu = open_hip_driver(0);
//   Result<std::vector<DeviceFacts>> devices = list_hip_devices();             // no memory on the
//   device
//
// It shares all but these calls with CUDA. What AMD's GPUs lack is refused with a word: clusters,
// programmatic dependent launch, tensor maps; so is what is not done yet: cooperative launches,
// memory shared with a judge. No machine with AMD hardware has run it. Not thread-safe.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/driver/hip_api.h"

namespace assay::sandbox {

/// `internal_error` when there is no runtime or no such device; the message says which devices
/// there are.
LaunchResult<std::unique_ptr<GpuDriver>> open_hip_driver(int index);
/// The same over a given table, for a device whose facts are known; tests give one without
/// hardware.
LaunchResult<std::unique_ptr<GpuDriver>> make_hip_driver(const hip::HipApi& api, int index,
                                                         DeviceFacts facts);

/// The devices by index; `unavailable` with the reason when there is none.
Result<std::vector<DeviceFacts>> list_hip_devices();

}  // namespace assay::sandbox
