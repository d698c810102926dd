#include "server/app/install_layout.h"

#include <system_error>
#include <vector>

namespace assay::server {

namespace fs = std::filesystem;
namespace {

constexpr int kMostLevels = 4;  // from ROOT/build/PRESET/bin to ROOT, and one for other builds

bool is_root(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder / "operators", error) &&
         fs::is_regular_file(folder / "sandbox/harness/main.py", error);
}

/// Returns the Python of the environment into which a wheel with this root was installed, if that
/// environment has torch and Triton. Returns "" otherwise.
fs::path python_of_wheel(const fs::path& root) {
  const fs::path packages = root.parent_path().parent_path();  // of PACKAGES/assay/_bundle
  std::error_code error;
  for (const char* package : {"torch", "triton"}) {
    if (!fs::is_regular_file(packages / package / "__init__.py", error)) return {};
  }
  // PREFIX/lib/python3.11/site-packages belongs to PREFIX/bin/python3.
  const fs::path python = packages.parent_path().parent_path().parent_path() / "bin" / "python3";
  return fs::exists(python, error) ? python : fs::path();
}

}  // namespace

Result<InstallLayout> find_layout(const fs::path& program, const std::string& chosen_root) {
  InstallLayout layout;
  layout.binaries = program.parent_path();
  layout.installed = is_root(layout.binaries.parent_path());
  if (!chosen_root.empty()) {
    layout.root = chosen_root;
    if (is_root(layout.root)) return layout;
    return fail(ErrorCode::not_found,
                chosen_root +
                    " lacks operators/ or sandbox/harness/main.py; ASSAY_ROOT names the root of "
                    "Assay's source tree or of an installed Assay");
  }
  fs::path folder = layout.binaries;
  for (int level = 0; level < kMostLevels && folder.has_relative_path(); ++level) {
    folder = folder.parent_path();
    if (!is_root(folder)) continue;
    layout.root = folder;
    return layout;
  }
  return fail(ErrorCode::not_found,
              "no folder above " + program.string() +
                  " has operators/ and sandbox/harness/main.py; set ASSAY_ROOT to Assay's source "
                  "tree");
}

fs::path python_of_setup(const fs::path& data) { return data / "python/bin/python"; }

fs::path default_python(const InstallLayout& layout, const fs::path& data) {
  if (!layout.installed) return layout.root / ".venv/bin/python";
  const fs::path of_wheel = python_of_wheel(layout.root);
  return of_wheel.empty() ? python_of_setup(data) : of_wheel;
}

}  // namespace assay::server
