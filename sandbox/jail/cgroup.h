// Cgroup: the memory, number of processes and processor time of one slot, counted over everything
// that its job starts. Version 2 or version 1, whichever the machine has. The supervisor's side of
// the jail.
//
//   LayerList layers(strict);
//   Cgroup group = Cgroup::create("assay-4711-3", {.memory_bytes = 4LL << 30, .processes = 64,
//   .cpu_percent = 400}, layers); group.add(pid);                              // best before the
//   process does anything
//   ...                                          // after its end: group.out_of_memory()
//
// Removed when destroyed, once its processes are gone. Not thread-safe.
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
  std::int64_t cpu_percent = 0;  // of one processor, over all of its processes
  bool yields = false;           // where processors are short, to everybody else
};

class Cgroup {
 public:
  /// Makes the group where the machine allows it; reports `cgroup_memory`, `cgroup_pids` and
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
  /// Once its processes have been killed: no limit of processor time, and precedence over others.
  /// To die takes time of their own, which a fork bomb on a busy machine waited seconds for. The
  /// group is not to be used again.
  Status hurry_end();
  bool limits_memory() const { return !memory_.empty(); }
  bool limits_processes() const { return !pids_.empty(); }
  /// Whether the kernel killed a process of the group for its memory.
  bool out_of_memory() const;
  /// Whether a process of the group could not be started for their number.
  bool out_of_processes() const;

 private:
  void remove();
  void forget();

  /// The folders that there are, each once: in version 2 all are the same.
  std::vector<std::string> folders() const;

  std::string memory_, pids_, cpu_;  // empty: not limited
};

/// Removes the groups of dead supervisors and kills what still runs in them. False when one of them
/// could not be removed yet: call again a moment later.
bool sweep_cgroups();

}  // namespace assay::sandbox
