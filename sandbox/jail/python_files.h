// Finds the files of the host that a Python interpreter needs, from its path and without running
// it.
//
//   Result<PythonFiles> files = find_python_files("/srv/assay/.venv/bin/python");
//   // directories {"/srv/assay/.venv", "/home/me/.pyenv/versions/3.11.7"}, links {}
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

struct PythonFiles {
  // The virtual environment, and the installation that it was made from.
  std::vector<std::string> directories;
  // Symbolic links on the path that lie in neither folder.
  std::vector<std::pair<std::string, std::string>> links;
};

/// Errors: not_found when there is no such interpreter.
Result<PythonFiles> find_python_files(const std::string& python);

}  // namespace assay::sandbox
