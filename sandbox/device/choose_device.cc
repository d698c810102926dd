#include "sandbox/device/choose_device.h"

#include "sandbox/device/make_device.h"

namespace assay::sandbox {

std::string device_option_help() {
  return std::string(kAutoDevice) + " (the first GPU, or cpu if no GPU is usable), " +
         device_names_help();
}

Status check_device_option(std::string_view value) {
  if (value == kAutoDevice || check_device_name(value)) return {};
  return fail(ErrorCode::invalid_argument,
              check_device_name(value).error().message + ", " + kAutoDevice);
}

DeviceChoice choose_device(const std::string& value, const SandboxConfig& config) {
  if (value != kAutoDevice) return {value};
  return choose_auto(probe_driver(config, "cuda"));
}

DeviceChoice choose_auto(const DriverProbe& cuda) {
  if (!cuda.gpus.empty()) return {"cuda:0"};
  return {"cpu", cuda.reason};
}

}  // namespace assay::sandbox
