#include "sandbox/device/make_device.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/log.h"
#include "sandbox/device/cpu.h"
#include "sandbox/device/cuda.h"
#include "sandbox/device/emulated.h"
#include "sandbox/device/fake.h"
#include "sandbox/device/hip.h"

namespace assay::sandbox {
namespace {

using Made = Result<std::unique_ptr<Device>>;

Made make_cpu(const SandboxConfig& config, int) { return make_cpu_device(config); }
Made make_cuda(const SandboxConfig& config, int index) {
  return make_cuda_device(config, {.index = index, .driver = "cuda", .judge_device = ""});
}
Made make_hip(const SandboxConfig& config, int index) { return make_hip_device(config, index); }
Made make_emulated(const SandboxConfig& config, int) { return make_emulated_device(config); }
Made make_fake(const SandboxConfig&, int) { return make_fake_device(); }

struct DeviceRow {
  std::string_view pattern;  // "cpu", or "cuda:N" for a name with a number
  bool can_time;
  bool starts_processes;
  bool can_sanitize;  // replays launch plans on a GPU, where the sanitizer can check them
  bool unjailed;      // runs the device code of submissions outside of every jail
  Made (*make)(const SandboxConfig& config, int index);
};

// All kinds of devices that make_device() can create.
constexpr std::array kDevices{
    DeviceRow{"cpu", false, true, false, false, make_cpu},
    DeviceRow{"cuda:N", true, true, true, false, make_cuda},
    DeviceRow{"hip:N", true, true, false, false, make_hip},
    DeviceRow{"emulated", false, true, false, true, make_emulated},
    DeviceRow{"fake", false, false, false, false, make_fake},
};
constexpr std::string_view kNumbered = ":N";
constexpr std::size_t kMaxDigits = 3;

struct Parsed {
  const DeviceRow* row;
  int index = 0;
};

/// Returns the number in `text`. Returns nothing if `text` is not a number or has too many digits.
std::optional<int> number_in(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool all = error == std::errc() && end == text.data() + text.size();
  if (!all || text.front() == '-' || text.size() > kMaxDigits) return std::nullopt;
  return number;
}

std::optional<Parsed> parse(std::string_view name) {
  for (const DeviceRow& row : kDevices) {
    if (!row.pattern.ends_with(kNumbered)) {
      if (name == row.pattern) return Parsed{&row};
      continue;
    }
    const std::string_view prefix = row.pattern.substr(0, row.pattern.size() - 1);
    if (!name.starts_with(prefix)) continue;
    if (const std::optional<int> index = number_in(name.substr(prefix.size())))
      return Parsed{&row, *index};
  }
  return std::nullopt;
}

std::string listed(std::string_view before_last) {
  std::string names;
  for (std::size_t i = 0; i < kDevices.size(); ++i) {
    if (i > 0) names += i + 1 == kDevices.size() ? before_last : ", ";
    names += kDevices[i].pattern;
  }
  return names;
}

/// Returns an error that names the first missing file. Call this function before a device starts
/// its processes. Their own errors would name only a consequence of the missing file.
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

std::string device_names_help() { return listed(" or "); }

Status check_device_name(std::string_view name) {
  if (parse(name)) return {};
  return fail(ErrorCode::invalid_argument,
              "unknown device '" + std::string(name) + "'; valid: " + listed(", "));
}

bool can_time(std::string_view name) {
  const std::optional<Parsed> parsed = parse(name);
  return parsed && parsed->row->can_time;
}

Result<std::unique_ptr<Device>> make_device(const std::string& name, const SandboxConfig& config) {
  const std::optional<Parsed> parsed = parse(name);
  if (!parsed) return fail(check_device_name(name).error());
  if (config.sanitize && !parsed->row->can_sanitize)
    return fail(ErrorCode::invalid_argument, "--sanitize needs an NVIDIA GPU: device " + name +
                                                 " performs no launches that it can watch");
  if (parsed->row->unjailed) {
    if (!config.allow_unjailed)
      return fail(ErrorCode::invalid_argument,
                  "device " + name +
                      " runs the kernels of submissions in a process without a jail, with the "
                      "rights of this user. If you trust every submission, add "
                      "--allow-unjailed-device");
    log::warning("kernels of submissions run outside of every jail", {{"device", name}});
  }
  if (parsed->row->starts_processes) {
    if (Status files = check_files(config); !files) return fail(files.error());
  }
  return parsed->row->make(config, parsed->index);
}

}  // namespace assay::sandbox
