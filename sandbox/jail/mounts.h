// Enters a mount namespace and mounts file systems in it. Errors name the system call and the path.
// All functions except enter_mount_namespace() must be called in a separate mount namespace.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace assay::sandbox {

/// Enters a new mount namespace. Its mounts do not propagate to other namespaces.
Status enter_mount_namespace();

/// Creates the directory `path` and its missing parents with mode 0755.
Status make_directories(const std::string& path);

/// Makes `source`, a file or directory, visible at `target`. Creates `target` if needed. The mount
/// is read-only and ignores set-uid bits. Device files in the mount work only if `devices` is true.
Status bind_read_only(const std::string& source, const std::string& target, bool devices);

/// Mounts a new tmpfs with this mode (for example "1777"), a limit of bytes, and a limit of files.
Status mount_tmpfs(const std::string& target, std::int64_t bytes, std::int64_t inodes,
                   const std::string& mode);

/// Mounts a new tmpfs over a folder that contains other mounts. In the tmpfs only these mounts, and
/// the folders that lead to them, are visible.
Status mount_tmpfs_keeping_mounts(const std::string& target, std::int64_t bytes,
                                  std::int64_t inodes, const std::string& mode);

/// Mounts a new /proc for the caller's pid namespace. `target` ends in "/proc". The files in which
/// drivers describe the machine's devices are hidden.
Status mount_proc(const std::string& target);

/// In a /proc that mount_proc() has mounted, makes the files about the machine's boot, load,
/// interrupts and disks empty. The folder that contains `target` must also contain "dev/null".
Status empty_machine_files(const std::string& target);

/// Makes a mount and all mounts below it read-only. Keeps the other restrictions of the mounts.
Status make_read_only(const std::string& target, bool devices);

}  // namespace assay::sandbox
