// Facts about a process that the kernel reports in /proc. The supervisor reads them before it says
// why a candidate ended.
//
//   if (is_ending(pid)) wait_longer();
//   const std::optional<CpuTimes> times = cpu_times(pid);
//   const bool starved = times && times->waited_ms > times->used_ms;
//
// The process must not have been reaped, because the kernel may reuse its id. Thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::sandbox {

/// The processor time of a process since its start, in milliseconds.
struct CpuTimes {
  std::int64_t used_ms = 0;    // all threads, and the children that have ended and were waited for
  std::int64_t waited_ms = 0;  // how long the main thread was ready to run and had no processor
  /// If true, a cgroup counted `used_ms`, so it contains the time of every child. Without a cgroup,
  /// it lacks children that still run, and children that the kernel reaped because their parent
  /// ignores SIGCHLD.
  bool counts_all = false;
};

/// Returns true if the process has begun to end or has ended. The kernel sets this flag before it
/// closes the descriptors of the process.
bool is_ending(pid_t pid);

/// Returns nothing if the process does not exist, or if the kernel keeps no such times.
std::optional<CpuTimes> cpu_times(pid_t pid);

/// Reads the times from the texts of /proc/PID/stat and /proc/PID/schedstat. `ticks` is the number
/// of clock ticks in a second.
std::optional<CpuTimes> parse_cpu_times(std::string_view stat, std::string_view schedstat,
                                        std::int64_t ticks);

}  // namespace assay::sandbox
