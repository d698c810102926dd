// Reads the facts of a HIP device, and classifies the runtime's errors. Needs hipInit but no memory
// on the device. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/driver/hip_api.h"

namespace assay::sandbox::hip {

/// Calls hipInit and returns the number of devices. Errors: `unavailable`, with the reason, if
/// there is none.
Result<int> count_devices(const HipApi& api);

Result<DeviceFacts> read_device_facts(const HipApi& api, int index);

/// Returns "hip:gfx90a" for the kernel driver's number 90010: major, minor and stepping, the last
/// two in hexadecimal.
std::string target_of_version(std::int64_t gfx_target_version);

/// Reads the number from the kernel driver's description of a GPU (`properties` of a node of its
/// topology). Returns nothing if that GPU is not at this PCI address ("0000:c1:00.0").
std::optional<std::int64_t> version_at(std::string_view properties, std::string_view pci_place);

/// Classifies a result: the submission's device code, the launch, or this launcher. kSuccess is no
/// error. `doing` describes the call in the message.
LaunchError classify(const HipApi& api, HipResult result, const std::string& doing);

}  // namespace assay::sandbox::hip
