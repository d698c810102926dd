// Enters a mount namespace and mounts file systems in it. Errors name the call and the path. All
// functions but the first need a mount namespace of the caller's own.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace assay::sandbox {

/// Enters a new mount namespace, from which nothing propagates to the outside.
Status enter_mount_namespace();

/// Makes `path` and its missing parents as directories with mode 0755.
Status make_directories(const std::string& path);

/// Shows `source`, a file or directory, at `target`, which it makes if needed. The mount is
/// read-only and ignores set-uid bits. Device files work in it only with `devices`.
Status bind_read_only(const std::string& source, const std::string& target, bool devices);

/// Mounts a new tmpfs of this mode, such as "1777", with caps on its bytes and on its files.
Status mount_tmpfs(const std::string& target, std::int64_t bytes, std::int64_t inodes,
                   const std::string& mode);

/// Does the same over a folder that has other mounts below it. In the tmpfs only these mounts and
/// the folders that lead to them are visible.
Status mount_tmpfs_keeping_mounts(const std::string& target, std::int64_t bytes,
                                  std::int64_t inodes, const std::string& mode);

/// Mounts a new /proc for the caller's pid namespace, without the files in which drivers describe
/// the machine's devices.
Status mount_proc(const std::string& target);

/// Makes a mount and all mounts below it read-only. Their other restrictions stay.
Status make_read_only(const std::string& target, bool devices);

}  // namespace assay::sandbox
