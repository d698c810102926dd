// Lists the devices of a driver. The same code serves every driver.
//
//   Result<std::vector<DeviceFacts>> all = list_devices(cuda::open_cuda_api());
//   LaunchResult<DeviceFacts> facts = device_at(cuda::open_cuda_api(), 1, "CUDA");
//
// The error of device_at() names the valid devices. The namespace of an API has count_devices(api)
// and read_device_facts(api, index).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sandbox/launcher/driver/gpu_driver.h"

namespace assay::sandbox {

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

/// Asks this device only, so that another, broken device does not matter.
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
