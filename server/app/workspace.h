// Finds the workspace of a command: the paths of Assay's parts on this machine (operators, harness,
// helper programs, the Python interpreter with torch), and the catalog of operators. Thread-safe.
//
//   int status = kPass;
//   const std::optional<Workspace> workspace = open_workspace("eval", status);
//   if (!workspace) return status;  // the reason is printed
//
// The paths are relative to this program (server/app/install_layout.h), unless ASSAY_ROOT names a
// different tree. ASSAY_PYTHON names the interpreter. ASSAY_STATE_DIR names the writable directory;
// its default is $XDG_STATE_HOME/assay or ~/.local/state/assay. `assay setup` makes its Python in
// $XDG_DATA_HOME/assay or ~/.local/share/assay.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "operators/catalog.h"
#include "sandbox/job/config.h"

namespace assay::server {

struct Paths {
  std::filesystem::path root;      // contains operators/, sandbox/harness/, reference_agents/
  std::filesystem::path binaries;  // contains assay, assay-jail, assay-launcher
  std::filesystem::path python;
  std::filesystem::path state;
  std::filesystem::path data;  // contains the Python of `assay setup`
  bool installed = false;      // not in a build folder of a source tree
  // The folders of suites with imported operators; open_workspace() sets them.
  std::vector<std::string> imported_suites = {};

  std::filesystem::path operators() const { return root / "operators"; }
  std::filesystem::path default_store() const { return state / "assay.db"; }
};

/// Finds the paths. Error: not_found if a part of the tree is missing. The message names the path
/// of the part and the variable that selects a different tree.
Result<Paths> find_paths();

/// Returns the path of Nsight Compute's `ncu`, from PATH or from the installer's folder. Returns ""
/// if there is none.
std::string find_ncu();
/// Returns the path of AMD's `rocprofv3`, from PATH, from ROCM_PATH or from /opt/rocm. Returns ""
/// if there is none.
std::string find_rocprof();

/// Returns the path of NVIDIA Compute Sanitizer's `compute-sanitizer`, from PATH, from CUDA_HOME or
/// from the usual folders of CUDA, or from the packages of this Python. Returns "" if there is
/// none.
std::string find_sanitizer(const std::filesystem::path& python);

/// Returns a configuration with these paths. All other values are defaults.
sandbox::SandboxConfig sandbox_config(const Paths& paths, sandbox::Isolation isolation);

struct Workspace {
  Paths paths;
  operators::Catalog catalog;
};

/// Adds the folders with imported operators to Paths::imported_suites: that of the suite, and those
/// of operators that are links to folders outside of it. `suite` is empty for Assay's own
/// operators. Errors: invalid_argument if there are more than sandbox::kMostImportedSuites.
Status add_imported_folders(const operators::Catalog& catalog, const std::string& suite,
                            Paths& paths);

/// Finds the paths, creates the state directory and loads the catalog. After that, only the user of
/// this process can access the state directory. `suite` is a folder with the
/// structure of operators/; empty means Assay's own operators. On an error, prints the message with
/// the name of `command`, sets `status` and returns nullopt.
std::optional<Workspace> open_workspace(const std::string& command, int& status,
                                        const std::string& suite = "");

}  // namespace assay::server
