#include "sandbox/pool/process_family.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "base/files.h"

namespace assay::sandbox {
namespace {

std::vector<std::string> all_stats() {
  std::vector<std::string> stats;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c); }))
      continue;
    std::string stat = read_small_file(entry->path().string() + "/stat");
    if (!stat.empty()) stats.push_back(std::move(stat));
  }
  return stats;
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t pid, const std::vector<std::string>& stats) {
  std::multimap<pid_t, pid_t> children;
  for (const std::string& stat : stats) {
    const std::optional<ProcessStat> facts = parse_process_stat(stat);
    const auto parent = facts ? facts->value(StatField::parent) : std::nullopt;
    if (parent) children.emplace(static_cast<pid_t>(*parent), facts->pid);
  }
  std::vector<pid_t> found = {pid};
  for (std::size_t next = 0; next < found.size(); ++next) {
    const auto [first, last] = children.equal_range(found[next]);
    for (auto child = first; child != last; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

std::optional<CpuTimes> family_cpu_times(pid_t pid) {
  std::optional<CpuTimes> times = cpu_times(pid);
  if (!times) return times;
  for (const pid_t descendant : descendants_of(pid, all_stats())) {
    if (const std::optional<CpuTimes> more = cpu_times(descendant)) times->used_ms += more->used_ms;
  }
  return times;
}

}  // namespace assay::sandbox
