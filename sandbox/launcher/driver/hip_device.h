// What a HIP device says of itself, and what its errors mean. Needs hipInit, no memory on the
// device. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/driver/hip_api.h"

namespace assay::sandbox::hip {

/// hipInit and the number of devices. `unavailable` with the reason when there is none.
Result<int> count_devices(const HipApi& api);

Result<DeviceFacts> read_device_facts(const HipApi& api, int index);

/// "hip:gfx90a" of the kernel driver's number 90010: major, minor and stepping, the latter two in
/// hexadecimal.
std::string target_of_version(std::int64_t gfx_target_version);

/// The number that the kernel driver's description of a GPU (`properties` of a node of its
/// topology) has, if it is the GPU at this place on the PCI bus ("0000:c1:00.0").
std::optional<std::int64_t> version_at(std::string_view properties, std::string_view pci_place);

/// Whose fault a result is; kSuccess has none. `doing` is what was being done, for a person.
LaunchError classify(const HipApi& api, HipResult result, const std::string& doing);

}  // namespace assay::sandbox::hip
