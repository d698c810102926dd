// Parses the command line of assay-launcher. main.cc documents it.
//
//   Result<LauncherArguments> arguments =
//       parse_launcher_arguments({"--socket-fd", "3", "--device", "cuda:0"});
//
// Some arguments have side effects during parsing: --without takes effect at once
// (sandbox/jail/layer.h), and the paths of --counters, --rocprof and --sanitizer are resolved.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/wire/sanitizer_tool.h"

namespace assay::sandbox {

// The name of a driver for tests: a fake device that fails every call.
inline constexpr std::string_view kSickDriver = "fake-sick";
// The name of a driver for tests: a fake device whose memory is nearly all in use.
inline constexpr std::string_view kFullDriver = "fake-full";

// The name of the driver that uses an emulator (sandbox/launcher/driver/emulated_driver.h).
inline constexpr std::string_view kEmulatedDriver = "emulated";

struct LauncherArguments {
  int socket = -1;
  int device = -1;
  std::string driver = "cuda";
  std::string ncu;        // path of Nsight Compute; empty if it reads no counters
  std::string rocprof;    // path of AMD's rocprofv3; empty if it reads no counters
  int pass = 0;           // the pass of rocprofv3 (sandbox/launcher/process/rocprof.h)
  std::string sanitizer;  // path of Compute Sanitizer; empty if this launcher does not start it
  std::optional<SanitizerTool> tool;  // the tool under which this launcher runs, or which it starts
  bool strict = false;
  // True if ncu, rocprofv3 or the sanitizer started this launcher inside the jail that the first
  // launcher built.
  bool confined = false;
  bool probe = false;
};

/// Errors: invalid_argument if an argument is wrong; the message says what is wrong.
Result<LauncherArguments> parse_launcher_arguments(const std::vector<std::string>& words);

}  // namespace assay::sandbox
