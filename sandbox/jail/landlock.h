// Landlock: a second barrier for files, TCP and signals beside mounts, namespaces and user ids. The
// job may read every file that it sees and write only in its own memory file systems. It may bind
// and connect no TCP socket, connect to no abstract socket outside, and signal no process outside.
//
//   Status restricted = restrict_with_landlock({"/tmp", "/dev/shm"});
//
// Call it after no_new_privs and before the seccomp filter, in a process with one thread. It holds
// for the caller and its children, for good. The kernel restricts TCP since 6.7, and sockets and
// signals since 6.12. On older kernels only the namespaces restrict these.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

/// Restricts the calling process. In the folders `writable` it may make everything but device
/// files. It may use the device files `devices` besides null and zero. With `loopback`, Landlock
/// does not restrict TCP, only the network namespace does. Errors: unavailable if the kernel has no
/// Landlock or has it switched off.
Status restrict_with_landlock(const std::vector<std::string>& writable,
                              const std::vector<std::string>& devices = {}, bool loopback = false);

/// Returns the kernel's version of the interface, or 0 without Landlock.
int landlock_version();

}  // namespace assay::sandbox
