#include "sandbox/job/processors.h"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace assay::sandbox {
namespace {

constexpr const char* kGroups = "/sys/fs/cgroup";
constexpr std::string_view kUnified = "0::";

int allowed_processors() {
  cpu_set_t set;
  // The call fails on a machine with more processors than a set has room for.
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

std::string_view unified_group(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(kUnified)) return line.substr(kUnified.size());
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return {};
}

int limited_processors(const std::filesystem::path& group, const std::filesystem::path& top,
                       int otherwise) {
  int least = otherwise;
  for (std::filesystem::path folder = group;; folder = folder.parent_path()) {
    std::ifstream file(folder / "cpu.max");
    std::int64_t quota = 0;
    std::int64_t period = 0;
    // The file is "max 100000" if there is no limit, so the number cannot be read.
    if (file >> quota >> period && quota > 0 && period > 0)
      least = static_cast<int>(std::min<std::int64_t>(least, (quota + period - 1) / period));
    if (folder == top || folder == folder.parent_path()) break;
  }
  return least;
}

int usable_processors() {
  std::ifstream file("/proc/self/cgroup");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::string_view group = unified_group(text);
  while (group.starts_with('/')) group.remove_prefix(1);
  const std::filesystem::path top = kGroups;
  const std::filesystem::path folder = group.empty() ? top : top / group;
  return std::max(1, limited_processors(folder, top, allowed_processors()));
}

}  // namespace assay::sandbox
