// Reads the kernel's table of mounts (/proc/self/mounts). In a path, the kernel writes a space,
// tab, line feed or backslash as a backslash and three octal digits. This parser converts such
// sequences back. Without this conversion, the mounts below a folder whose name contains a space
// would be missed.
//
//   for (const Mount& mount : parse_mounts(read_small_file("/proc/self/mounts")))
//     if (mount.type == "cgroup2") show(mount.target);
//
// parse_mounts() is a pure function. It uses no iostreams, because it also runs in forked Python
// processes (base/files.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::sandbox {

struct Mount {
  std::string target;   // the mount point, without escapes
  std::string type;     // type of the file system: "tmpfs", "cgroup2"
  std::string options;  // mount options, separated by commas
};

/// Returns the mounts in the order of the table. A line with fewer than four fields is left out.
std::vector<Mount> parse_mounts(std::string_view table);

}  // namespace assay::sandbox
