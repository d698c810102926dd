// The root filesystem of a jail: a tmpfs that shows, read-only, the files that a program needs and
// nothing else. It has no home directories, no store, no operators, no socket of the host, and only
// the devices in `devices`. find_python_files() finds what a Python interpreter needs, from its
// path and without running it.
//
//   Result<PythonFiles> python = find_python_files("/srv/assay/.venv/bin/python");
//   // python->directories: "/srv/assay/.venv" and "/home/me/.pyenv/versions/3.11.7"
//   Result<std::string> lacks = enter_root_filesystem(
//       {.binds = python->directories, .links = python->links, .devices = {}});
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

struct RootFilesystem {
  // Files and directories to show read-only at the same path. A missing one is an error.
  std::vector<std::string> binds;
  std::vector<std::pair<std::string, std::string>> links;  // symbolic links: path and target
  // Device files besides null, zero and the random ones. A missing one is an error.
  std::vector<std::string> devices;
  // Shows the host's /proc, for a process without a pid namespace of its own.
  bool host_proc = false;
};

/// Builds the root, moves into it and unmounts the old one. The caller must be in a mount namespace
/// of its own. It must be the first process of its pid namespace, unless `host_proc` is set.
/// Returns what could not be provided, or an empty string.
Result<std::string> enter_root_filesystem(const RootFilesystem& root);

struct PythonFiles {
  // The virtual environment and the installation that it was made from.
  std::vector<std::string> directories;
  // Symbolic links on the path of the interpreter that lie in neither folder: path and target.
  std::vector<std::pair<std::string, std::string>> links;
};

/// Errors: not_found if there is no such interpreter.
Result<PythonFiles> find_python_files(const std::string& python);

}  // namespace assay::sandbox
