#include "sandbox/job/harness_digest.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include "base/handle.h"

namespace assay::sandbox {

namespace fs = std::filesystem;

namespace {

/// Returns true for the files that an installed harness has: Python's sources and the headers of
/// CUDA C++.
bool is_code(const fs::path& path) {
  return path.extension() == ".py" || path.parent_path().filename() == "include";
}

}  // namespace

std::string harness_digest(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (is_code(entry->path()) && entry->is_regular_file(error)) files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  std::string text;
  for (const fs::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    text += path.lexically_relative(folder).string() + '\n' + sha256_hex(content) + '\n';
  }
  return sha256_hex(text);
}

}  // namespace assay::sandbox
