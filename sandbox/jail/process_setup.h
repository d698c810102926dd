// Sets up those properties of the jail that belong to the process itself: its parent, session,
// descriptors, limits, user and capabilities. Each function changes the calling process
// permanently. The process must have one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

/// Makes the kernel send SIGKILL to this process when the thread that created it ends. A change of
/// user ids cancels this setting, so call this function after the change.
Status die_with_parent();

/// Starts a new session, which has no terminal and no job control from outside.
Status enter_session();

/// Closes every descriptor above 2, except the descriptors in `keep`.
Status close_other_descriptors(std::vector<int> keep);

struct ResourceLimits {
  std::int64_t processes = 64;  // processes and threads together
  std::int64_t open_files = 1'024;
  std::int64_t file_bytes = 256LL << 20;
  // The limit of private writable memory in bytes, or 0 if the cgroup limits memory. The address
  // space is not limited, because CUDA reserves huge address ranges.
  std::int64_t data_bytes = 0;
  int niceness = 0;  // as in setpriority(); a process that already has a higher niceness keeps it
};
Status set_resource_limits(const ResourceLimits& limits);

/// Changes the user id and the group id to `id` permanently, and drops the supplementary groups.
Status become_user(uid_t id);

/// Empties the bounding and ambient sets of capabilities. The bounding set can be emptied only with
/// CAP_SETPCAP, so call this function before become_user().
Status drop_capability_bounds();

/// Empties the effective, permitted and inheritable sets of capabilities of this thread.
Status drop_capabilities();

/// Denies other processes access to this process's memory and to its files in /proc, and disables
/// core dumps.
Status forbid_dumps();

/// Prevents every program that this process starts from gaining privileges (no_new_privs).
Status forbid_new_privileges();

}  // namespace assay::sandbox
