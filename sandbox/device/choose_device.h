// Turns the value of --device into the name of a device. `auto` stands for the first GPU on which
// jobs can run and, if there is none, for the CPU. The commands `serve`, `eval`, `bench` and
// `doctor` use this file.
//
//   if (Status known = check_device_option("auto"); !known) return fail(known.error());
//   const DeviceChoice choice = choose_device("auto", config);  // {"cuda:0", ""} with a GPU
//   auto device = make_device(choice.name, config);
//
// All functions are thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/pool/probe.h"

namespace assay::sandbox {

/// The value of --device that stands for a GPU or, if none is usable, for the CPU.
inline constexpr const char* kAutoDevice = "auto";

struct DeviceChoice {
  std::string name;  // a name for make_device(), never "auto"
  /// The reason why `auto` stands for the CPU. Empty if it stands for a GPU, and for all other
  /// values of --device.
  std::string no_gpu = {};
};

/// Returns "auto, cpu, cuda:N or fake", for help texts.
std::string device_option_help();

/// Checks a value of --device. Error: invalid_argument if it is neither `auto` nor the name of a
/// device; the message lists the valid values.
Status check_device_option(std::string_view value);

/// Returns the device for which `value` stands. Returns every value other than `auto` unchanged.
/// For `auto` the launcher looks for GPUs, which can take seconds if there is one.
DeviceChoice choose_device(const std::string& value, const SandboxConfig& config);

/// Returns the device for which `auto` stands if the driver "cuda" reports these GPUs.
DeviceChoice choose_auto(const DriverProbe& cuda);

}  // namespace assay::sandbox
