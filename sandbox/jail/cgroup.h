// Cgroup: limits memory, number of processes and processor time of one slot, over all processes
// that its job starts. Uses cgroup version 2 or 1, whichever the machine has. The supervisor makes
// it.
//
//   LayerList layers(strict);
//   Cgroup group = Cgroup::create(
//       "assay-4711-3", {.memory_bytes = 4LL << 30, .processes = 64, .cpu_percent = 400}, layers);
//   group.add(pid);                                  // before the process does anything
//   const bool killed = group.out_of_memory();       // after its end
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
  /// Lifts the limit of processor time and raises the group's weight, after its processes were
  /// killed. A killed process needs processor time to end: without this, a fork bomb on a busy
  /// machine took seconds to go. Do not use the group again.
  Status hurry_end();
  bool limits_memory() const { return !memory_.empty(); }
  bool limits_processes() const { return !pids_.empty(); }
  /// True if the kernel killed a process of the group because of its memory.
  bool out_of_memory() const;
  /// True if a process of the group could not start because of their number.
  bool out_of_processes() const;

 private:
  void remove();
  void forget();

  /// The group's folders, each once. In version 2 all controllers share one folder.
  std::vector<std::string> folders() const;

  std::string memory_, pids_, cpu_;  // empty: not limited
};

/// Removes the groups of dead supervisors and kills the processes in them. Returns false if a group
/// could not be removed yet: call again a moment later.
bool sweep_cgroups();

}  // namespace assay::sandbox
