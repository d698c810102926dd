// Finds Assay's parts on this machine: operators, harness, helper programs, the Python with torch.
//
// Everything is relative to the source tree that this binary was built from, unless ASSAY_ROOT
// names another. ASSAY_PYTHON names the interpreter, ASSAY_STATE_DIR the writable directory
// (default: $XDG_STATE_HOME/assay or ~/.local/state/assay).
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "sandbox/job/config.h"

namespace assay::server {

struct Paths {
  std::filesystem::path root;      // contains operators/, sandbox/harness/, reference_agents/
  std::filesystem::path binaries;  // contains assay, assay-jail, assay-launcher
  std::filesystem::path python;
  std::filesystem::path state;

  std::filesystem::path operators() const { return root / "operators"; }
  std::filesystem::path default_store() const { return state / "assay.db"; }
};

/// Fails if a part of the tree is missing. The error names its path, and the variable that sets
/// another tree.
Result<Paths> find_paths();

/// The path of Nsight Compute's `ncu`, from PATH or from the installer's folder. Empty if there is
/// none.
std::string find_ncu();

sandbox::SandboxConfig sandbox_config(const Paths& paths, sandbox::Isolation isolation);

}  // namespace assay::server
