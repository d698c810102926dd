#include "sandbox/pool/process_facts.h"

#include <unistd.h>

#include <sstream>
#include <string>

#include "base/clock.h"
#include "base/files.h"

namespace assay::sandbox {
namespace {

constexpr std::int64_t kExiting = 0x4;  // PF_EXITING of the kernel's include/linux/sched.h

std::string stat_of(pid_t pid) { return read_small_file("/proc/" + std::to_string(pid) + "/stat"); }

}  // namespace

bool is_ending(pid_t pid) {
  const std::optional<ProcessStat> stat = parse_process_stat(stat_of(pid));
  return stat && (stat->value(StatField::flags).value_or(0) & kExiting) != 0;
}

std::optional<CpuTimes> parse_cpu_times(std::string_view stat, std::string_view schedstat,
                                        std::int64_t ticks) {
  const std::optional<ProcessStat> facts = parse_process_stat(stat);
  std::istringstream schedule{std::string(schedstat)};
  std::int64_t ran_ns = 0, waited_ns = 0;
  if (!facts || !(schedule >> ran_ns >> waited_ns)) return std::nullopt;
  std::int64_t used_ticks = 0;
  for (const StatField field : {StatField::user_ticks, StatField::system_ticks,
                                StatField::children_user_ticks, StatField::children_system_ticks}) {
    const std::optional<std::int64_t> value = facts->value(field);
    if (!value) return std::nullopt;
    used_ticks += *value;
  }
  return CpuTimes{used_ticks * 1'000 / ticks, waited_ns / static_cast<std::int64_t>(kNsPerMs)};
}

std::optional<CpuTimes> cpu_times(pid_t pid) {
  return parse_cpu_times(stat_of(pid),
                         read_small_file("/proc/" + std::to_string(pid) + "/schedstat"),
                         ::sysconf(_SC_CLK_TCK));
}

}  // namespace assay::sandbox
