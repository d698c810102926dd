#include "sandbox/job/processors.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

#include "base/files.h"

namespace assay::sandbox {
namespace {

int allowed_processors() {
  cpu_set_t set;
  // The call fails on a machine with more processors than a set has room for.
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

/// Returns the number at the begin of the text, or 0 if there is none.
std::int64_t number_in(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

struct Quota {
  std::int64_t used_us = 0, period_us = 0;  // so much processor time in each period
};

/// Reads the limit of one group. Without a limit, version 2 has the word "max" instead of a number,
/// and version 1 has -1.
Quota read_quota(const std::filesystem::path& folder, bool version2) {
  if (!version2)
    return {number_in(read_small_file(folder / "cpu.cfs_quota_us")),
            number_in(read_small_file(folder / "cpu.cfs_period_us"))};
  const std::string text = read_small_file(folder / "cpu.max");
  const std::size_t space = text.find(' ');
  if (space == std::string::npos) return {};
  return {number_in(text), number_in(std::string_view(text).substr(space + 1))};
}

}  // namespace

int limited_processors(const std::vector<OwnGroup>& groups, int otherwise) {
  int least = otherwise;
  for (const OwnGroup& own : groups) {
    const std::filesystem::path top = own.mount;
    for (std::filesystem::path folder = own.folder();; folder = folder.parent_path()) {
      const Quota quota = read_quota(folder, own.version2);
      if (quota.used_us > 0 && quota.period_us > 0)
        least = static_cast<int>(
            std::min<std::int64_t>(least, (quota.used_us + quota.period_us - 1) / quota.period_us));
      if (folder == top || folder == folder.parent_path()) break;
    }
  }
  return least;
}

int usable_processors() {
  const std::vector<OwnGroup> groups = own_groups("cpu", read_group_tables());
  return std::max(1, limited_processors(groups, allowed_processors()));
}

}  // namespace assay::sandbox
