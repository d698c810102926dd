// The root filesystem of a jail: a tmpfs that shows, read-only, the files that a program needs and
// nothing else. It has no home directories, no store, no operators, no socket of the host, and only
// the devices in `devices`.
//
//   Result<std::string> lacks = enter_root_filesystem(
//       {.binds = {"/usr", "/opt/venv"}, .links = {{"/lib", "usr/lib"}}});
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

struct RootFilesystem {
  // files and directories shown at the same path, read-only; missing ones are an error
  std::vector<std::string> binds;
  std::vector<std::pair<std::string, std::string>> links;  // symbolic links: path, where it points
  // device files besides null, zero and the random ones; missing ones are an error
  std::vector<std::string> devices;
  bool host_proc = false;  // the host's /proc, for a process without a pid namespace of its own
};

/// Builds the root, moves into it and unmounts the old one. The caller must be in a mount namespace
/// of its own, and the first process of its pid namespace unless it wants the host's /proc. Returns
/// what could not be provided, or an empty string.
Result<std::string> enter_root_filesystem(const RootFilesystem& root);

}  // namespace assay::sandbox
