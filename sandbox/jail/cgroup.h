// Cgroup limits the memory, the number of processes and the CPU time of one candidate. The limits
// apply to all processes of the candidate together. Cgroup uses version 1 or 2 of the kernel's
// control groups, depending on the machine. The supervisor creates a control group (cgroup) for
// each candidate, in the folder that find_cgroup_place() finds.
//
//   LayerList layers(strict);
//   Cgroup group = Cgroup::create(
//       "assay-4711-3", {.memory_bytes = 4LL << 30, .processes = 64, .cpu_percent = 400}, layers);
//   Status added = group.add(pid);  // call it before the process does anything
//   const bool killed = group.out_of_memory();  // call it after the process has ended
//
// The destructor removes the cgroup. If the cgroup still contains processes, a later create()
// removes it. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/jail/layer.h"

namespace assay::sandbox {

struct CgroupLimits {
  std::int64_t memory_bytes = 0;
  std::int64_t processes = 0;
  std::int64_t cpu_percent = 0;  // sum over all processes of the cgroup; 100 is one CPU core
  // If true, the cgroup gets less CPU time than other cgroups while all CPU cores are busy.
  bool yields = false;
};

class Cgroup {
 public:
  /// Creates the cgroup with those limits that the machine supports. Reports the isolation layers
  /// `cgroup_memory`, `cgroup_pids` and `cgroup_cpu` to `layers`.
  static Cgroup create(const std::string& name, const CgroupLimits& limits, LayerList& layers);

  Cgroup() = default;
  Cgroup(Cgroup&& other) noexcept
      : memory_(std::move(other.memory_)),
        pids_(std::move(other.pids_)),
        cpu_(std::move(other.cpu_)),
        cpu_account_(std::move(other.cpu_account_)) {
    other.forget();
  }
  Cgroup& operator=(Cgroup&& other) noexcept;
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;
  ~Cgroup() { remove(); }

  Status add(pid_t pid);
  /// Removes the CPU limit and raises the cgroup's weight, because a killed process needs CPU time
  /// to end. Call this function after the cgroup's processes were killed, and do not use the cgroup
  /// afterwards. Without this call, a fork bomb on a busy machine takes seconds to end.
  Status hurry_end();
  bool limits_memory() const { return !memory_.empty(); }
  bool limits_processes() const { return !pids_.empty(); }
  /// Returns true if the kernel has killed a process of the cgroup because the cgroup exceeded its
  /// memory limit.
  bool out_of_memory() const;
  /// Returns true if the kernel has killed a process of the cgroup although the cgroup was within
  /// its memory limit: the machine, or a cgroup above this one, had no memory left.
  bool machine_out_of_memory() const;
  /// Returns true if the cgroup had too many processes, so that a further process could not be
  /// started.
  bool out_of_processes() const;
  /// Returns the processor time of all processes that are or were in the cgroup, in milliseconds.
  /// It contains the time of processes that ended without being waited for. Returns nothing if
  /// neither version of cgroups counts it here.
  std::optional<std::int64_t> used_cpu_ms() const;

 private:
  struct MemoryEvents {
    bool reached_limit = false;  // the cgroup's own memory limit
    std::int64_t killed = 0;     // processes that the kernel killed because memory was short
  };
  MemoryEvents memory_events() const;
  void remove();
  void forget();

  /// Returns each folder of the cgroup once. In version 2 one folder serves all controllers.
  std::vector<std::string> folders() const;

  std::string memory_, pids_, cpu_;  // folder for each controller; empty if there is no limit
  std::string cpu_account_;          // folder of the controller cpuacct, which only version 1 has
};

/// Removes the cgroups of supervisors that have ended, and kills the processes in these cgroups.
/// Returns false if a cgroup cannot be removed yet. In that case, call the function again a moment
/// later.
bool sweep_cgroups();

struct CgroupPlace {
  std::string folder;  // the folder below which new cgroups are created
  bool version2 = false;
};

/// Finds the folder in which this process may create cgroups for a controller: "memory", "pids" or
/// "cpu". Errors: unavailable if there is no such folder; the message says why.
Result<CgroupPlace> find_cgroup_place(const std::string& controller);

}  // namespace assay::sandbox
