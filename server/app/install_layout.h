// Finds where the parts of the running Assay are. No path is compiled in: all are relative to the
// program, so that an installed folder can be moved.
//
//   const Result<InstallLayout> layout = find_layout("/opt/assay/bin/assay", "");
//
// `root` is the nearest folder above the program that contains operators/ and
// sandbox/harness/main.py. There are two layouts:
// - installed: ROOT/bin/assay, ROOT/lib, ROOT/harness, ROOT/operators, ROOT/sandbox/harness, ...
// - built: ROOT/build/PRESET/bin/assay and the source tree ROOT
//
// A wheel installs ROOT as site-packages/assay/_bundle, the Debian package as /usr/lib/assay. The
// native module of the harness is in ../harness beside the program in both layouts
// (sandbox/pool/zygote.h). Thread-safe.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace assay::server {

struct InstallLayout {
  std::filesystem::path root;      // contains operators/, sandbox/harness/, reference_agents/
  std::filesystem::path binaries;  // contains assay, assay-jail, assay-launcher
  bool installed = false;          // false: the program is in a build folder of a source tree
};

/// Finds the layout of the program with this absolute path. `chosen_root` is another root, or "".
/// Error: not_found if no folder has the parts. The message names ASSAY_ROOT.
Result<InstallLayout> find_layout(const std::filesystem::path& program,
                                  const std::string& chosen_root);

/// Returns the Python that jobs use if no setting names one. `data` is the folder in which `assay
/// setup` makes its Python. For a source tree, this is the tree's .venv. For an installed Assay, it
/// is the first of these that exists: the Python into which a wheel was installed, if it has torch
/// and Triton; the Python of `assay setup`. If neither exists, returns the path of the latter.
std::filesystem::path default_python(const InstallLayout& layout,
                                     const std::filesystem::path& data);

/// Returns the Python that `assay setup` makes in this folder.
std::filesystem::path python_of_setup(const std::filesystem::path& data);

}  // namespace assay::server
