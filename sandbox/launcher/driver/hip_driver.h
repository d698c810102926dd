// HipDriver: GpuDriver over AMD's HIP, which is loaded at run time; no ROCm is needed to build or
// to start.
//
//   LaunchResult<std::unique_ptr<GpuDriver>> gpu = open_hip_driver(0);
//   Result<std::vector<DeviceFacts>> devices = list_hip_devices();
//
// Everything but these calls is shared with CUDA. The driver refuses by name what AMD's GPUs lack
// (clusters, programmatic dependent launch, tensor maps) and what is not implemented (cooperative
// launches, memory shared with a judge). No machine with AMD hardware has run it. Not thread-safe.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/driver/hip_api.h"

namespace assay::sandbox {

/// Errors: `internal_error` without a runtime or without such a device; the message lists the
/// devices that exist.
LaunchResult<std::unique_ptr<GpuDriver>> open_hip_driver(int index);
/// Opens a driver over a given table of functions, for a device whose facts are known. Tests give a
/// table that needs no hardware.
LaunchResult<std::unique_ptr<GpuDriver>> make_hip_driver(const hip::HipApi& api, int index,
                                                         DeviceFacts facts);

/// Returns the devices by index. Errors: `unavailable`, with the reason, if there is none.
Result<std::vector<DeviceFacts>> list_hip_devices();

}  // namespace assay::sandbox
