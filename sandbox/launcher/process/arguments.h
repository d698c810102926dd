// Parses the command line of assay-launcher. main.cc documents it.
//
//   Result<LauncherArguments> arguments =
//       parse_launcher_arguments({"--socket-fd", "3", "--device", "cuda:0"});
//
// Two arguments have side effects during parsing: --without takes effect at once
// (sandbox/jail/layer.h), and the path of --counters is resolved.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

// The name of a driver for tests: a fake device that fails every call.
inline constexpr std::string_view kSickDriver = "fake-sick";
// The name of a driver for tests: a fake device whose memory is nearly all in use.
inline constexpr std::string_view kFullDriver = "fake-full";

struct LauncherArguments {
  int socket = -1;
  int device = -1;
  std::string driver = "cuda";
  std::string ncu;  // path of Nsight Compute; empty if no counters are read
  bool strict = false;
  bool confined = false;  // ncu started this launcher inside the jail that the first launcher built
  bool probe = false;
};

/// Errors: invalid_argument if an argument is wrong; the message says what is wrong.
Result<LauncherArguments> parse_launcher_arguments(const std::vector<std::string>& words);

}  // namespace assay::sandbox
