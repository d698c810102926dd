// The parts of the jail that concern the process itself: whose death it shares, its session, its
// descriptors, its limits, who it runs as.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

/// SIGKILL when the parent *thread* ends. Changing user ids undoes this: call afterwards.
Status die_with_parent();

/// A session of its own: no terminal, no job control from outside.
Status enter_session();

/// Closes every descriptor above 2 but those in `keep`.
Status close_other_descriptors(std::vector<int> keep);

struct ResourceLimits {
  std::int64_t processes = 64;  // and threads
  std::int64_t open_files = 1'024;
  std::int64_t file_bytes = 256LL << 20;
  std::int64_t data_bytes = 0;  // private writable memory; 0: the cgroup limits memory. Never the
                                // address space: CUDA reserves huge ranges
  int niceness = 0;  // at least, of setpriority(): more lets others have the processors first
};
Status set_resource_limits(const ResourceLimits& limits);

/// Runs as `id` (user and group) from now on, without supplementary groups.
Status become_user(uid_t id);

/// The process's memory and its files in /proc are closed to other processes, and no core is
/// dumped.
Status forbid_dumps();

/// No program that it starts gains privileges.
Status forbid_new_privileges();

}  // namespace assay::sandbox
