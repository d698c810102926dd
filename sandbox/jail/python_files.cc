#include "sandbox/jail/python_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace assay::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;

/// An installation or a virtual environment has a library folder of its own; anything else (a ~/bin
/// full of links) must not be shown.
bool is_prefix(const fs::path& folder) {
  std::error_code error;
  if (folder == "/usr" || folder == "/" || folder.empty()) return false;
  if (fs::exists(folder / "pyvenv.cfg", error)) return true;
  for (const char* library : {"lib", "lib64"}) {
    for (fs::directory_iterator entry(folder / library, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().filename().string().starts_with("python3")) return true;
    }
  }
  return false;
}

void add_prefix(PythonFiles& files, const fs::path& folder) {
  if (is_prefix(folder) && std::find(files.directories.begin(), files.directories.end(),
                                     folder.string()) == files.directories.end()) {
    files.directories.push_back(folder.string());
  }
}

/// `home = /opt/python/bin` of a virtual environment.
fs::path home_of(const fs::path& environment) {
  std::ifstream config(environment / "pyvenv.cfg");
  for (std::string line; std::getline(config, line);) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    std::string key = line.substr(0, equals), value = line.substr(equals + 1);
    std::erase(key, ' ');
    value.erase(0, value.find_first_not_of(' '));
    value.erase(value.find_last_not_of(" \r") + 1);
    if (key == "home") return value;
  }
  return {};
}

}  // namespace

Result<PythonFiles> find_python_files(const std::string& python) {
  std::error_code error;
  fs::path path = fs::absolute(python, error).lexically_normal();
  if (error || !fs::exists(path, error))
    return fail(ErrorCode::not_found, "there is no Python interpreter at " + python);
  PythonFiles files;
  for (int hop = 0; hop < kMaxLinks; ++hop) {
    const fs::path prefix = path.parent_path().parent_path();
    add_prefix(files, prefix);
    add_prefix(files, home_of(prefix).parent_path());
    if (!fs::is_symlink(path, error)) break;
    const fs::path target = fs::read_symlink(path, error);
    if (!is_prefix(prefix)) files.links.emplace_back(path.string(), target.string());
    path = (target.is_absolute() ? target : path.parent_path() / target).lexically_normal();
  }
  // Repeat with every folder resolved that is itself a link.
  const fs::path real = fs::canonical(path, error);
  if (!error) add_prefix(files, real.parent_path().parent_path());
  return files;
}

}  // namespace assay::sandbox
