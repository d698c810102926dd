// Opens the GPU drivers that are loaded at run time, and lists their devices. Neither CUDA nor ROCm
// is needed to build Assay or to start it.
//
//   LaunchResult<std::unique_ptr<GpuDriver>> gpu = open_cuda_driver(0);
//   Result<std::vector<DeviceFacts>> devices = list_cuda_devices();
//
// CudaDriver works over the CUDA driver API. It uses the device's primary context, one non-blocking
// stream and two events. It blocks the stream by a wait on a word of mapped host memory.
//
// HipDriver works over AMD's HIP. It refuses by name what AMD's GPUs lack (clusters, programmatic
// dependent launch, tensor maps) and what is not implemented (cooperative launches, memory shared
// with a judge). No machine with AMD hardware has run it.
//
// Opening a driver makes the context, which takes about 0.1 s; listing devices makes none. A driver
// is not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/driver/hip_api.h"

namespace assay::sandbox {

/// Errors: `internal_error` without a driver or without such a device; the message lists the
/// devices that exist.
LaunchResult<std::unique_ptr<GpuDriver>> open_cuda_driver(int index);
LaunchResult<std::unique_ptr<GpuDriver>> open_hip_driver(int index);
/// Opens a HipDriver over a given table of functions, for a device whose facts are known. Tests
/// pass a table that needs no hardware.
LaunchResult<std::unique_ptr<GpuDriver>> make_hip_driver(const hip::HipApi& api, int index,
                                                         DeviceFacts facts);

/// Returns the devices by index. Errors: `unavailable`, with the reason, if there is none.
Result<std::vector<DeviceFacts>> list_cuda_devices();
Result<std::vector<DeviceFacts>> list_hip_devices();

/// Lists the devices of an API. Its namespace has count_devices(api) and
/// read_device_facts(api, index). Fails if any device fails.
template <class Api>
Result<std::vector<DeviceFacts>> list_devices(Result<const Api*> api) {
  if (!api) return fail(api.error());
  Result<int> count = count_devices(**api);
  if (!count) return fail(count.error());
  std::vector<DeviceFacts> devices;
  for (int i = 0; i < *count; ++i) {
    Result<DeviceFacts> facts = read_device_facts(**api, i);
    if (!facts) return fail(facts.error());
    devices.push_back(std::move(*facts));
  }
  return devices;
}

/// Returns the facts of one device of an API. It queries this device only, so another, broken
/// device does not matter. The error of a wrong index names the valid ones.
template <class Api>
LaunchResult<DeviceFacts> device_at(Result<const Api*> api, int index, const std::string& kind) {
  const auto internal = [](const Error& error) {
    return launch_fail(LaunchErrorKind::internal_error, error.message);
  };
  if (!api) return internal(api.error());
  Result<int> count = count_devices(**api);
  if (!count) return internal(count.error());
  if (index < 0 || index >= *count) {
    const std::string valid = *count == 0 ? "none" : "0 to " + std::to_string(*count - 1);
    return launch_fail(
        LaunchErrorKind::internal_error,
        "there is no " + kind + " device " + std::to_string(index) + "; valid: " + valid);
  }
  Result<DeviceFacts> facts = read_device_facts(**api, index);
  if (!facts) return internal(facts.error());
  return std::move(*facts);
}

}  // namespace assay::sandbox
