// Landlock: a second barrier for files, TCP and signals beside mounts, namespaces and user ids. The
// job may read every file that it sees, write only its own memory file systems, bind and connect no
// TCP socket, and reach no abstract socket and no process outside by a signal.
//
//   Status restricted = restrict_with_landlock({"/tmp", "/dev/shm"});
//
// Call it after no_new_privs and before the seccomp filter, in a process with one thread. It holds
// for the caller and its children, for good. The kernel limits TCP since 6.7, sockets and signals
// since 6.12; on older kernels the namespaces cover these.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

/// In the folders `writable` everything but device files may be made. `devices` are device files
/// that may be used besides null and zero. With `loopback`, TCP is left to the network namespace.
/// Errors: unavailable if the kernel has no Landlock or has it switched off.
Status restrict_with_landlock(const std::vector<std::string>& writable,
                              const std::vector<std::string>& devices = {}, bool loopback = false);

/// The kernel's version of the interface; 0 without Landlock.
int landlock_version();

}  // namespace assay::sandbox
