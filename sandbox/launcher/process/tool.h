// Executes a profiler or a sanitizer, which starts a second launcher inside the jail that the first
// launcher has built (ncu.h, rocprof.h, sanitizer.h).
//
//   const std::string folder = parent_folder("/opt/cuda/bin/ncu");  // "/opt/cuda/bin"
//   Status failed = become_tool({"/opt/cuda/bin/ncu", "--csv", launcher}, launcher);
//
// Not thread-safe: become_tool() changes the environment of the process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

/// Returns the folder of a file. `path` is absolute.
std::string parent_folder(const std::string& path);

/// Replaces this process with the tool. `command` is the tool's command line, and begins with the
/// path of the tool. `launcher` is the program that the tool starts. Returns only on failure.
Status become_tool(std::vector<std::string> command, const std::string& launcher);

/// Waits until a child process has ended. Returns its exit status, or 128 plus the signal that
/// ended it. Errors: io.
Result<std::int64_t> wait_for_tool(pid_t child);

}  // namespace assay::sandbox
