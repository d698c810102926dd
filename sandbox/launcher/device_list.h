// Which devices a driver has, for every driver alike.
//
//   Result<std::vector<DeviceFacts>> all = list_devices(cuda::open_cuda_api());
//   LaunchResult<DeviceFacts> facts = device_at(std::move(all), 1, "CUDA");       // or an error that names the valid ones
//
// An API's namespace has count_devices(api) and read_device_facts(api, index).
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sandbox/launcher/gpu_driver.h"

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

inline LaunchResult<DeviceFacts> device_at(Result<std::vector<DeviceFacts>> devices, int index, const std::string& kind) {
  if (!devices) return launch_fail(LaunchErrorKind::internal_error, devices.error().message);
  if (index >= 0 && static_cast<std::size_t>(index) < devices->size()) return std::move((*devices)[static_cast<std::size_t>(index)]);
  const std::string valid = devices->empty() ? "none" : "0 to " + std::to_string(devices->size() - 1);
  return launch_fail(LaunchErrorKind::internal_error, "there is no " + kind + " device " + std::to_string(index) + "; valid: " + valid);
}

}  // namespace assay::sandbox
