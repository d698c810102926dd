// Finds the control groups (cgroups) in which this process is. Version 1 has a hierarchy of groups
// for each controller, version 2 has one for all, and a hybrid machine has both. The jail makes the
// groups of candidates there, and usable_processors() reads the limits.
//
//   for (const OwnGroup& own : own_groups("cpu", read_group_tables()))
//     show(own.folder().string() + (own.version2 ? "/cpu.max" : "/cpu.cfs_quota_us"));
//
// read_group_tables() reads /proc. The other functions are pure, except that folder() looks at the
// file system.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::sandbox {

/// The group of this process in one hierarchy.
struct OwnGroup {
  std::string mount;  // the folder where the hierarchy is mounted
  std::string group;  // within the hierarchy: "/user.slice"; "/" is its top
  bool version2 = false;

  /// Returns the folder of the group, or `mount` if there is no such folder. A container sees its
  /// group as the top of the hierarchy, but version 1 tells it the path that the machine sees.
  std::filesystem::path folder() const;

  bool operator==(const OwnGroup&) const = default;
};

/// The kernel's tables about this process.
struct GroupTables {
  std::string mounts;  // the text of /proc/self/mounts
  std::string groups;  // the text of /proc/self/cgroup
};
GroupTables read_group_tables();

/// Returns the groups that can limit what the controller counts ("cpu", "memory"). A hierarchy of
/// version 1 for this controller comes before that of version 2. Version 2 does not say here
/// whether it has the controller.
std::vector<OwnGroup> own_groups(std::string_view controller, const GroupTables& tables);

/// Returns true if `word` is one of the words of `text`.
bool has_word(std::string_view text, std::string_view word, char separator);

}  // namespace assay::sandbox
