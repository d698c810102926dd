#include "sandbox/job/harness_digest.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include "base/handle.h"

namespace assay::sandbox {

namespace fs = std::filesystem;

std::string harness_digest(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry->path().filename() == "__pycache__")
      entry.disable_recursion_pending();
    else if (entry->is_regular_file(error))
      files.push_back(entry->path());
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
