// The parts of the jail that concern the process itself: its parent, its session, its descriptors,
// its limits, its user and its capabilities. Each function changes the calling process for good. It
// must have one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

/// Makes the kernel send SIGKILL when the parent *thread* ends. A change of user ids undoes this,
/// so call it afterwards.
Status die_with_parent();

/// Starts a new session: no terminal, and no job control from outside.
Status enter_session();

/// Closes every descriptor above 2 but those in `keep`.
Status close_other_descriptors(std::vector<int> keep);

struct ResourceLimits {
  std::int64_t processes = 64;  // processes and threads together
  std::int64_t open_files = 1'024;
  std::int64_t file_bytes = 256LL << 20;
  // Limit of private writable memory, or 0 if the cgroup limits memory. The address space has no
  // limit, because CUDA reserves huge ranges.
  std::int64_t data_bytes = 0;
  int niceness = 0;  // as for setpriority(); a process with a higher niceness keeps it
};
Status set_resource_limits(const ResourceLimits& limits);

/// Changes user and group to `id` for good, and drops the supplementary groups.
Status become_user(uid_t id);

/// Empties the bounding and ambient sets of capabilities. It needs CAP_SETPCAP for the bounding
/// set, so call it before become_user().
Status drop_capability_bounds();

/// Empties the effective, permitted and inheritable sets of capabilities of this thread.
Status drop_capabilities();

/// Closes the process's memory and its files in /proc to other processes, and disables core dumps.
Status forbid_dumps();

/// Forbids every program that this process starts to gain privileges (no_new_privs).
Status forbid_new_privileges();

}  // namespace assay::sandbox
