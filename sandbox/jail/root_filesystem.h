// Builds the root filesystem of a jail: a tmpfs in which only the system's folders and the files
// that a program needs are visible, read-only. Only /tmp, /dev/shm and the process's own files in
// /proc are writable. The host's home directories, store, operators and sockets are visible only if
// `binds` names them. The only devices are null, zero, the random devices and those in `devices`.
// find_python_files() finds the files that a Python interpreter needs. The function uses only the
// interpreter's path and does not run the interpreter.
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
  // Files and directories that become visible, read-only, at the same path. A missing file is an
  // error.
  std::vector<std::string> binds;
  std::vector<std::pair<std::string, std::string>> links;  // symbolic links: path and target
  // Device files in addition to null, zero and the random devices. A missing file is an error.
  std::vector<std::string> devices;
  // If true, the host's /proc is visible. A process without a separate pid namespace needs it.
  bool host_proc = false;
};

/// Builds the new root, moves into it and unmounts the old root. The caller must be in a separate
/// mount namespace. If `host_proc` is false, mounts a new /proc, and the caller must also be the
/// first process of its pid namespace. If a new /proc is not possible, makes the host's /proc
/// visible, read-only, and returns the reason. Otherwise returns an empty string.
Result<std::string> enter_root_filesystem(const RootFilesystem& root);

struct PythonFiles {
  // The virtual environment, and the Python installation from which it was created.
  std::vector<std::string> directories;
  // Symbolic links on the interpreter's path that lie in neither directory: path and target.
  std::vector<std::pair<std::string, std::string>> links;
};

/// Finds the files that this interpreter needs. Errors: not_found if there is no such interpreter.
Result<PythonFiles> find_python_files(const std::string& python);

}  // namespace assay::sandbox
