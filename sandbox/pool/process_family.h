// The processor time of a process together with its descendants: its children, their children, and
// so on. The supervisor reads it when a candidate has run out of time.
//
//   const std::optional<CpuTimes> times = family_cpu_times(pid);
//
// The function reads the files of all processes in /proc, which takes milliseconds. Thread-safe.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "sandbox/pool/process_facts.h"

namespace assay::sandbox {

/// Returns cpu_times(pid), and adds the time that the living descendants used since their start.
/// `waited_ms` is that of the process itself.
std::optional<CpuTimes> family_cpu_times(pid_t pid);

/// Returns the ids of the descendants of a process. `stats` are the texts of /proc/PID/stat of all
/// processes.
std::vector<pid_t> descendants_of(pid_t pid, const std::vector<std::string>& stats);

}  // namespace assay::sandbox
