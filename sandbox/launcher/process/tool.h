// Executes one of NVIDIA's tools, which starts a second launcher inside the jail that the first
// launcher has built (ncu.h, sanitizer.h).
//
//   const std::string folder = parent_folder("/opt/cuda/bin/ncu");  // "/opt/cuda/bin"
//   Status failed = become_tool({"/opt/cuda/bin/ncu", "--csv", launcher}, launcher);
//
// Not thread-safe: become_tool() changes the environment of the process.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

/// Returns the folder of a file. `path` is absolute.
std::string parent_folder(const std::string& path);

/// Replaces this process with the tool. `command` is the tool's command line, and begins with the
/// path of the tool. `launcher` is the program that the tool starts. Returns only on failure.
Status become_tool(std::vector<std::string> command, const std::string& launcher);

}  // namespace assay::sandbox
