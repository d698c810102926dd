// Landlock: a second opinion on files, TCP and signals, kept by the kernel beside mounts,
// namespaces and user ids: everything may be read, only the job's own memory file systems written,
// no TCP socket bound or connected, and neither abstract sockets nor signals leave the job.
//
//   Status restricted = restrict_with_landlock({"/tmp", "/dev/shm"});     // after no_new_privs,
//   before the seccomp filter
//
// For the calling thread and its children, for good; a process with one thread. Not all of it
// exists in every kernel: TCP since 6.7, sockets and signals since 6.12. What exists is used; the
// namespaces cover the rest.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace assay::sandbox {

/// `writable`: folders in which everything but device files may be made. `devices`: device files
/// that may be used besides null and zero. Errors: unavailable when the kernel has no Landlock or
/// has it switched off. `loopback`: TCP is left to the network namespace.
Status restrict_with_landlock(const std::vector<std::string>& writable,
                              const std::vector<std::string>& devices = {}, bool loopback = false);

/// The kernel's version of the interface; 0 when there is none.
int landlock_version();

}  // namespace assay::sandbox
