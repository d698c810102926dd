#include "server/app/workspace.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/private_path.h"
#include "server/app/exit_status.h"
#include "server/app/install_layout.h"

namespace assay::server {

namespace fs = std::filesystem;
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Returns a folder of the user: the folder of Assay in the folder that `variable` names, or in
/// `otherwise` in the home folder. Returns `/tmp/assay-NAME` if there is no home folder.
fs::path folder_of_user(const char* variable, const char* otherwise, const std::string& name) {
  if (const std::string dir = environment(variable); !dir.empty()) return fs::path(dir) / "assay";
  if (const std::string home = environment("HOME"); !home.empty())
    return fs::path(home) / otherwise / "assay";
  return "/tmp/assay-" + name;
}

fs::path state_directory() {
  if (const std::string dir = environment("ASSAY_STATE_DIR"); !dir.empty()) return dir;
  return folder_of_user("XDG_STATE_HOME", ".local/state", "state");
}

/// Returns the folders of PATH.
std::vector<fs::path> folders_of_path() {
  std::vector<fs::path> folders;
  std::stringstream path(environment("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) folders.emplace_back(folder);
  return folders;
}

/// Returns the first path in `places` that is absolute and names a program. Returns "" if there is
/// none.
std::string first_program(const std::vector<fs::path>& places) {
  for (const fs::path& place : places) {
    if (place.is_absolute() && ::access(place.c_str(), X_OK) == 0) return place.string();
  }
  return {};
}

/// Returns what is in a folder. Returns an empty list if the folder cannot be read.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    entries.push_back(entry->path());
  return entries;
}

/// Returns the absolute path of a program, because the jails start it in another folder. A name
/// without a slash is searched for in PATH. The path keeps its symbolic links, because Python finds
/// its virtual environment by them.
fs::path program_of(const std::string& name) {
  if (name.find('/') == std::string::npos) {
    std::vector<fs::path> places;
    for (const fs::path& folder : folders_of_path()) places.push_back(folder / name);
    if (const std::string found = first_program(places); !found.empty()) return found;
  }
  std::error_code error;
  const fs::path absolute = fs::absolute(name, error);
  return error ? fs::path(name) : absolute;
}

}  // namespace

Result<Paths> find_paths() {
  Paths paths;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return fail(ErrorCode::io, "readlink /proc/self/exe: " + error.message());
  ASSAY_TRY(layout, find_layout(self, environment("ASSAY_ROOT")));
  paths.root = layout.root;
  paths.binaries = layout.binaries;
  paths.installed = layout.installed;
  paths.data = folder_of_user("XDG_DATA_HOME", ".local/share", "data");
  const std::string python = environment("ASSAY_PYTHON");
  paths.python = python.empty() ? default_python(layout, paths.data) : program_of(python);
  paths.state = state_directory();
  return paths;
}

std::string find_ncu() {
  std::vector<fs::path> places;
  for (const fs::path& folder : folders_of_path()) places.push_back(folder / "ncu");
  places.emplace_back("/usr/local/cuda/bin/ncu");
  for (const fs::path& version : entries_of("/opt/nvidia/nsight-compute"))
    places.push_back(version / "ncu");
  return first_program(places);
}

std::string find_rocprof() {
  std::vector<fs::path> places;
  for (const fs::path& folder : folders_of_path()) places.push_back(folder / "rocprofv3");
  places.push_back(fs::path(environment("ROCM_PATH")) / "bin/rocprofv3");
  places.emplace_back("/opt/rocm/bin/rocprofv3");
  return first_program(places);
}

std::string find_sanitizer(const fs::path& python) {
  constexpr const char* kProgram = "compute-sanitizer";
  std::vector<fs::path> places;
  for (const fs::path& folder : folders_of_path()) places.push_back(folder / kProgram);
  for (const fs::path& cuda :
       {fs::path(environment("CUDA_HOME")), fs::path("/usr/local/cuda"), fs::path("/opt/cuda")}) {
    places.push_back(cuda / "bin" / kProgram);
    places.push_back(cuda / kProgram / kProgram);
  }
  // The package nvidia-cuda-sanitizer-api puts the program below a folder such as
  // lib/python3.11/site-packages/nvidia/cu13.
  for (const fs::path& version : entries_of(python.parent_path().parent_path() / "lib")) {
    for (const fs::path& package : entries_of(version / "site-packages/nvidia"))
      places.push_back(package / kProgram / kProgram);
  }
  return first_program(places);
}

sandbox::SandboxConfig sandbox_config(const Paths& paths, sandbox::Isolation isolation) {
  sandbox::SandboxConfig config;
  config.python = paths.python.string();
  config.harness_dir = (paths.root / "sandbox/harness").string();
  config.launcher = (paths.binaries / "assay-launcher").string();
  config.jail_exec = (paths.binaries / "assay-jail").string();
  config.ncu = find_ncu();
  config.rocprof = find_rocprof();
  config.sanitizer = find_sanitizer(paths.python);
  config.state_dir = paths.state.string();
  config.isolation = isolation;
  config.imported_suites = paths.imported_suites;
  config.cuda_toolkit = environment("ASSAY_CUDA_TOOLKIT");
  config.cuda_home = environment("CUDA_HOME");
  return config;
}

Status add_imported_folders(const operators::Catalog& catalog, const std::string& suite,
                            Paths& paths) {
  std::vector<std::string>& folders = paths.imported_suites;
  std::error_code error;
  const std::string root = suite.empty() ? "" : fs::canonical(suite, error).string();
  for (const operators::Operator& op : catalog.all()) {
    if (!op.imported) continue;
    const std::string own = op.directory.string();
    const std::string folder = !root.empty() && own.starts_with(root + "/") ? root : own;
    if (std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(folder);
  }
  if (std::ssize(folders) <= sandbox::kMostImportedSuites) return {};
  return fail(ErrorCode::invalid_argument,
              std::to_string(folders.size()) + " folders have imported operators, at most " +
                  std::to_string(sandbox::kMostImportedSuites) +
                  " can be used together, because each has judges of its own; put the operators " +
                  "into one suite");
}

std::optional<Workspace> open_workspace(const std::string& command, int& status,
                                        const std::string& suite) {
  Result<Paths> paths = find_paths();
  if (!paths) {
    status = print_error(command, kBadConfig, paths.error().message);
    return std::nullopt;
  }
  if (const Status made = create_private_directory(paths->state); !made) {
    status = print_error(command, kStoreUnusable,
                         "the state directory " + paths->state.string() + " cannot be made: " +
                             made.error().message + "; ASSAY_STATE_DIR names another");
    return std::nullopt;
  }
  const auto was = narrow_permissions(paths->state);
  if (!was)
    log::warning("other users can access the state directory", {{"error", was.error().message}});
  else if (*was)
    log::warning("other users could access the state directory; now only its owner can",
                 {{"folder", paths->state.string()}, {"mode_before", octal_mode(**was)}});
  Result<operators::Catalog> catalog =
      operators::Catalog::load(suite.empty() ? paths->operators() : std::filesystem::path(suite));
  if (!catalog) {
    status = print_error(command, kBadConfig, catalog.error().message);
    return std::nullopt;
  }
  if (const Status added = add_imported_folders(*catalog, suite, *paths); !added) {
    status = print_error(command, kBadConfig, added.error().message);
    return std::nullopt;
  }
  return Workspace{std::move(*paths), std::move(*catalog)};
}

}  // namespace assay::server
