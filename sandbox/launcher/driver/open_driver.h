// Opens the GPU drivers that are loaded at run time, and lists their devices. Neither CUDA nor ROCm
// is needed to build Assay or to start it.
//
//   LaunchResult<std::unique_ptr<GpuDriver>> gpu = open_cuda_driver(0);
//   Result<std::vector<DeviceFacts>> devices = list_cuda_devices();
//
// CudaDriver uses the CUDA driver API, the device's primary context, one non-blocking stream and
// two events. To block the stream, CudaDriver makes the stream wait for a value in a word of mapped
// host memory.
//
// HipDriver uses AMD's HIP. It refuses features that AMD's GPUs lack (clusters, programmatic
// dependent launch, tensor maps). Its error names the feature. HipDriver has never run on AMD
// hardware.
//
// A function that opens a driver creates a context, which takes about 0.1 s. A function that lists
// devices creates no context. A driver is not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/driver/hip_api.h"

namespace assay::sandbox {

/// Opens a CudaDriver for one device. Errors: `internal_error` if there is no driver or no device
/// with this index; the message lists the existing devices.
LaunchResult<std::unique_ptr<GpuDriver>> open_cuda_driver(int index);
LaunchResult<std::unique_ptr<GpuDriver>> open_hip_driver(int index);
/// Opens a HipDriver that uses the given table of functions. The caller provides the facts of the
/// device. Tests pass a table that needs no hardware.
LaunchResult<std::unique_ptr<GpuDriver>> make_hip_driver(const hip::HipApi& api, int index,
                                                         DeviceFacts facts);

/// Returns the devices, sorted by index. Errors: `unavailable` if there is no device; the message
/// says why.
Result<std::vector<DeviceFacts>> list_cuda_devices();
Result<std::vector<DeviceFacts>> list_hip_devices();

/// Lists the devices of an API. The API's namespace must contain the functions count_devices(api)
/// and read_device_facts(api, index). Returns an error if any of the devices cannot be read.
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

/// Returns the facts of one device of an API. Only this device is queried, so other devices may be
/// broken. If the index is wrong, the error names the valid indices.
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
