// Creates devices by name. One table contains their names, their abilities and the functions that
// create them. To add a device, add its files and a row of the table in make_device.cc
// (docs/how-to/add-a-device.md).
//
//   if (Status known = check_device_name(name); !known) return fail(known.error());
//   Result<std::unique_ptr<Device>> device = make_device(name, config);
//
// All functions are thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/job/device.h"

namespace assay::sandbox {

/// Returns "cpu, cuda:N or fake", for help texts.
std::string device_names_help();
/// Checks that a device has this name. Error: invalid_argument if not; the message lists the valid
/// names.
Status check_device_name(std::string_view name);
/// Returns true if the device measures times. Returns false if no device has this name.
bool can_time(std::string_view name);

/// Creates the device of this name. The device starts its processes at once, and the function
/// returns without waiting for them. Errors: the errors of check_device_name(); invalid_argument if
/// the device needs SandboxConfig::allow_unjailed; unavailable if a
/// program or the GPU is missing; io.
Result<std::unique_ptr<Device>> make_device(const std::string& name, const SandboxConfig& config);

}  // namespace assay::sandbox
