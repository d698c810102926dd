// Restricts a job with the kernel's Landlock. Mounts, namespaces and user ids already restrict
// files, TCP and signals. Landlock is a second barrier. The job may read every file that is visible
// in the jail. It may write only to its own memory file systems and to the devices that it was
// given. It cannot bind or connect TCP sockets. It cannot connect to abstract sockets of processes
// outside of the jail, and cannot send signals to these processes.
//
//   Status restricted = restrict_with_landlock({"/tmp", "/dev/shm"});
//
// Call it after no_new_privs and before the seccomp filter, in a process with one thread. The
// restriction is permanent and applies to the caller and its children. The kernel can restrict TCP
// since version 6.7, and abstract sockets and signals since version 6.12. On older kernels only the
// namespaces restrict TCP, sockets and signals.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

/// Restricts the calling process. In the folders `writable` the process may create everything
/// except device files. It may read and write the files `devices` (if a path is a folder, the files
/// in it), and the devices null and zero. If `loopback` is true, Landlock does not restrict TCP, so
/// only the network namespace restricts it. Errors: unavailable if the kernel has no Landlock or
/// has switched Landlock off.
Status restrict_with_landlock(const std::vector<std::string>& writable,
                              const std::vector<std::string>& devices = {}, bool loopback = false);

/// Returns the version of the kernel's Landlock interface, or 0 if there is no Landlock.
int landlock_version();

}  // namespace assay::sandbox
