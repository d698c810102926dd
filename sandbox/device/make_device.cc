// The list of devices. Add a device by adding a file and a line here.
#include "sandbox/device/make_device.h"

#include <filesystem>
#include <string_view>

#include "sandbox/device/cpu.h"
#include "sandbox/device/cuda.h"
#include "sandbox/device/fake.h"
#include "sandbox/job/config.h"
#include "sandbox/job/device.h"

namespace assay::sandbox {
namespace {

constexpr const char* kValid = "valid: cpu, cuda:N (N from 0 up), fake";
constexpr std::string_view kCuda = "cuda:";
constexpr std::size_t kMaxDigits = 3;

/// What a real device needs before it starts its processes, so that a missing file is named and not
/// its consequences.
Status check_files(const SandboxConfig& config) {
  std::error_code error;
  for (const auto& [what, path] :
       {std::pair<const char*, std::string>{"Python interpreter", config.python},
        {"harness", config.harness_dir + "/main.py"},
        {"jail program", config.jail_exec}}) {
    if (!std::filesystem::exists(path, error))
      return fail(ErrorCode::unavailable,
                  std::string("no ") + what + " at '" + path + "'; ./run setup makes it");
  }
  std::filesystem::create_directories(config.state_dir, error);
  if (error)
    return fail(ErrorCode::io,
                "cannot make the folder " + config.state_dir + ": " + error.message());
  return {};
}

}  // namespace

Result<std::unique_ptr<Device>> make_device(const std::string& name, const SandboxConfig& config) {
  if (name == "fake") return make_fake_device();
  const bool cuda = name.starts_with(kCuda);
  const std::string digits = cuda ? name.substr(kCuda.size()) : std::string();
  const bool number = !digits.empty() && digits.size() <= kMaxDigits &&
                      digits.find_first_not_of("0123456789") == std::string::npos;
  if (name != "cpu" && !(cuda && number))
    return fail(ErrorCode::invalid_argument, "unknown device '" + name + "'; " + kValid);
  if (Status files = check_files(config); !files) return fail(files.error());
  if (name == "cpu") return make_cpu_device(config);
  return make_cuda_device(config,
                          {.index = std::stoi(digits), .driver = "cuda", .judge_device = ""});
}

}  // namespace assay::sandbox
