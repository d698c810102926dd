// Small wrappers over mount(2) that say what failed. Callers are in a mount namespace of their own.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace assay::sandbox {

/// A mount namespace of its own, from which nothing propagates to the outside.
Status enter_mount_namespace();

/// `path` and its missing parents as directories, mode 0755.
Status make_directories(const std::string& path);

/// Shows `source` (a file or directory) at `target`, which is made as needed; no set-uid bits,
/// nothing can be written. `devices`: device files work.
Status bind_read_only(const std::string& source, const std::string& target, bool devices);

/// A fresh tmpfs, world-writable and sticky, with a cap on its size and on its number of files.
Status mount_tmpfs(const std::string& target, std::int64_t bytes, std::int64_t inodes,
                   const std::string& mode);

/// The same over a folder that has other mounts below it: they stay visible in the new one.
Status mount_tmpfs_keeping_mounts(const std::string& target, std::int64_t bytes,
                                  std::int64_t inodes, const std::string& mode);

/// A fresh /proc of the caller's pid namespace.
/// A new one for this pid namespace, without what drivers tell there about the machine's devices.
Status mount_proc(const std::string& target);

/// Makes a mount and all below it read-only, keeping the restrictions it has.
Status make_read_only(const std::string& target, bool devices);

}  // namespace assay::sandbox
