// Cgroup limits the memory, the number of processes and the processor time of one slot, over all
// processes that its job starts. It uses cgroup version 2 or 1, whichever the machine has. The
// supervisor makes it; find_cgroup_place() finds the folder for it.
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
  std::int64_t cpu_percent = 0;  // of one processor; the sum over all processes of the group
  // Gives the group less processor time than others while the processors are busy.
  bool yields = false;
};

class Cgroup {
 public:
  /// Makes the group as far as the machine allows it. Reports `cgroup_memory`, `cgroup_pids` and
  /// `cgroup_cpu` as layers.
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
  /// Lifts the limit of processor time and raises the group's weight. Call it after its processes
  /// were killed, and do not use the group again. A killed process needs processor time to end:
  /// without this call, a fork bomb on a busy machine takes seconds to end.
  Status hurry_end();
  bool limits_memory() const { return !memory_.empty(); }
  bool limits_processes() const { return !pids_.empty(); }
  /// Tells whether the kernel has killed a process of the group because of its memory.
  bool out_of_memory() const;
  /// Tells whether a process of the group could not start because there were too many.
  bool out_of_processes() const;

 private:
  void remove();
  void forget();

  /// Returns each folder of the group once. In version 2 all controllers share one folder.
  std::vector<std::string> folders() const;

  std::string memory_, pids_, cpu_;  // folders; an empty one means no limit
};

/// Removes the groups of dead supervisors and kills the processes in them. Returns false if a group
/// cannot be removed yet. Call it again a moment later.
bool sweep_cgroups();

struct CgroupPlace {
  std::string folder;  // new groups are made below it
  bool version2 = false;
};

/// Finds the folder in which this process may make groups for a controller: "memory", "pids" or
/// "cpu". Errors: unavailable, with the steps that would make it available.
Result<CgroupPlace> find_cgroup_place(const std::string& controller);

}  // namespace assay::sandbox
