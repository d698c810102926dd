// Devices by name: the list of what there is.
#include <unistd.h>

#include <charconv>
#include <string_view>
#include <system_error>

#include "sandbox/device/cpu.h"
#include "sandbox/device/cuda.h"
#include "sandbox/device/device.h"
#include "sandbox/device/fake.h"

namespace assay::sandbox {
namespace {

constexpr const char* kValid = "valid: cpu, cuda:N (N counts the GPUs from 0), fake";

/// The N of "cuda:N"; -1 when the rest is no number.
int index_of(std::string_view name, std::string_view prefix) {
  int index = -1;
  const char* end = name.data() + name.size();
  const auto [stopped, error] = std::from_chars(name.data() + prefix.size(), end, index);
  return error == std::errc() && stopped == end ? index : -1;
}

}  // namespace

Result<std::unique_ptr<Device>> make_device(const std::string& name, const SandboxConfig& config) {
  if (name == "fake") return make_fake_device();
  if (name != "cpu" && name.rfind("cuda:", 0) != 0 && name.rfind("hip:", 0) != 0) return fail(ErrorCode::invalid_argument, "unknown device '" + name + "'; " + kValid);
  if (::access(config.python.c_str(), X_OK) != 0) {
    return fail(ErrorCode::unavailable, "device '" + name + "' needs a Python with torch and Triton, and " + config.python + " is not there; run ./run setup, or set ASSAY_PYTHON");
  }
  if (name == "cpu") return make_cpu_device(config);
  if (name.rfind("hip:", 0) == 0) return fail(ErrorCode::unavailable, "device '" + name + "': AMD GPUs cannot be launched on yet; compile for them with the target hip:gfx942. " + kValid);
  const int index = index_of(name, "cuda:");
  if (index < 0) return fail(ErrorCode::invalid_argument, "unknown device '" + name + "'; " + kValid);
  return make_cuda_device(index, config);
}

}  // namespace assay::sandbox
