// Cgroup limits the memory, the number of processes and the processor time of one job slot. The
// limits apply to all processes of the slot together. Cgroup uses version 1 or 2 of the kernel's
// control groups, whichever the machine has. The supervisor creates the group. find_cgroup_place()
// finds the folder for it.
//
//   LayerList layers(strict);
//   Cgroup group = Cgroup::create(
//       "assay-4711-3", {.memory_bytes = 4LL << 30, .processes = 64, .cpu_percent = 400}, layers);
//   Status added = group.add(pid);  // before the process does anything
//   const bool killed = group.out_of_memory();  // after its end
//
// The destructor removes the group once its processes are gone. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/jail/layer.h"

namespace assay::sandbox {

struct CgroupLimits {
  std::int64_t memory_bytes = 0;
  std::int64_t processes = 0;
  std::int64_t cpu_percent = 0;  // sum over all processes of the group; 100 is one processor
  // If true, the group gets less processor time than other groups while the processors are busy.
  bool yields = false;
};

class Cgroup {
 public:
  /// Creates the group, as far as the machine allows it. Reports the isolation layers
  /// `cgroup_memory`, `cgroup_pids` and `cgroup_cpu`.
  static Cgroup create(const std::string& name, const CgroupLimits& limits, LayerList& layers);

  Cgroup() = default;
  Cgroup(Cgroup&& other) noexcept
      : memory_(std::move(other.memory_)),
        pids_(std::move(other.pids_)),
        cpu_(std::move(other.cpu_)) {
    other.forget();
  }
  Cgroup& operator=(Cgroup&& other) noexcept;
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;
  ~Cgroup() { remove(); }

  Status add(pid_t pid);
  /// Removes the limit of processor time and raises the group's weight. Call it after the group's
  /// processes were killed, and do not use the group again. A killed process needs processor time
  /// to end. Without this call, a fork bomb on a busy machine takes seconds to end.
  Status hurry_end();
  bool limits_memory() const { return !memory_.empty(); }
  bool limits_processes() const { return !pids_.empty(); }
  /// Returns true if the kernel has killed a process of the group because the group exceeded its
  /// memory limit.
  bool out_of_memory() const;
  /// Returns true if a process of the group could not be started because the group had too many
  /// processes.
  bool out_of_processes() const;

 private:
  void remove();
  void forget();

  /// Returns each folder of the group once. In version 2 one folder serves all controllers.
  std::vector<std::string> folders() const;

  std::string memory_, pids_, cpu_;  // folders; empty if there is no limit
};

/// Removes the groups of supervisors that have ended, and kills the processes in these groups.
/// Returns false if a group cannot be removed yet. In this case, call it again a moment later.
bool sweep_cgroups();

struct CgroupPlace {
  std::string folder;  // the folder below which new groups are created
  bool version2 = false;
};

/// Finds the folder in which this process may create groups for a controller: "memory", "pids" or
/// "cpu". Errors: unavailable if there is no such folder; the message lists the steps that would
/// provide it.
Result<CgroupPlace> find_cgroup_place(const std::string& controller);

}  // namespace assay::sandbox
