// The root filesystem of the template jail: a tmpfs that shows, read-only, what Python needs to run and nothing else. No home, no store, no
// operators, no GPU device, no socket of the host.
//
//   Result<std::string> lacks = enter_root_filesystem({.binds = {"/usr", "/opt/venv"}, .links = {{"/lib", "usr/lib"}}});
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

struct RootFilesystem {
  std::vector<std::string> binds;                          // files and directories shown at the same path, read-only; missing ones are an error
  std::vector<std::pair<std::string, std::string>> links;  // symbolic links: path, where it points
};

/// Builds the root, moves into it and lets go of the old one. The caller is in a mount namespace of its own, and process 1 of its pid namespace
/// for a /proc of its own. Returns what came out less than wanted, or an empty string.
Result<std::string> enter_root_filesystem(const RootFilesystem& root);

}  // namespace assay::sandbox
