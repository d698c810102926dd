#include "sandbox/pool/process_facts.h"

#include <unistd.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"

namespace assay::sandbox {
namespace {

// The positions of the fields after the name of the process, as in proc_pid_stat(5).
constexpr std::size_t kFlags = 6, kUser = 11, kSystem = 12, kChildrenUser = 13,
                      kChildrenSystem = 14;
constexpr unsigned long kExiting = 0x4;  // PF_EXITING of the kernel's include/linux/sched.h

/// Returns the fields of /proc/PID/stat after the name of the process.
std::vector<std::string> stat_fields(std::string_view stat) {
  const std::size_t name_end = stat.rfind(')');  // the name itself may contain ')' and spaces
  if (name_end == std::string_view::npos) return {};
  std::istringstream text(std::string(stat.substr(name_end + 1)));
  std::vector<std::string> fields;
  for (std::string field; text >> field;) fields.push_back(field);
  return fields;
}

std::string stat_of(pid_t pid) { return read_small_file("/proc/" + std::to_string(pid) + "/stat"); }

}  // namespace

bool is_ending(pid_t pid) {
  const std::vector<std::string> fields = stat_fields(stat_of(pid));
  return fields.size() > kFlags &&
         (std::strtoul(fields[kFlags].c_str(), nullptr, 10) & kExiting) != 0;
}

std::optional<CpuTimes> parse_cpu_times(std::string_view stat, std::string_view schedstat,
                                        std::int64_t ticks) {
  const std::vector<std::string> fields = stat_fields(stat);
  std::istringstream schedule{std::string(schedstat)};
  std::int64_t ran_ns = 0, waited_ns = 0;
  if (fields.size() <= kChildrenSystem || !(schedule >> ran_ns >> waited_ns)) return std::nullopt;
  std::int64_t used_ticks = 0;
  for (const std::size_t field : {kUser, kSystem, kChildrenUser, kChildrenSystem})
    used_ticks += std::strtoll(fields[field].c_str(), nullptr, 10);
  return CpuTimes{used_ticks * 1'000 / ticks, waited_ns / static_cast<std::int64_t>(kNsPerMs)};
}

std::optional<CpuTimes> cpu_times(pid_t pid) {
  return parse_cpu_times(stat_of(pid),
                         read_small_file("/proc/" + std::to_string(pid) + "/schedstat"),
                         ::sysconf(_SC_CLK_TCK));
}

}  // namespace assay::sandbox
