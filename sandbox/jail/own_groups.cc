#include "sandbox/jail/own_groups.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "sandbox/jail/mount_table.h"

namespace assay::sandbox {
namespace {

/// Returns the path of the group in the controller's hierarchy, "/" if the table names none. A line
/// is "4:cpu,cpuacct:/user.slice" in version 1, and "0::/user.slice" in version 2.
std::string group_in(std::string_view table, std::string_view controller, bool version2) {
  while (!table.empty()) {
    const std::string_view line = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(table.size(), line.size() + 1));
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (version2 ? controllers.empty() : has_word(controllers, controller, ','))
      return std::string(line.substr(second + 1));
  }
  return "/";
}

}  // namespace

std::filesystem::path OwnGroup::folder() const {
  const std::string path = group == "/" ? mount : mount + group;
  return ::access(path.c_str(), F_OK) == 0 ? path : mount;
}

GroupTables read_group_tables() {
  return {read_small_file("/proc/self/mounts"), read_small_file("/proc/self/cgroup")};
}

std::vector<OwnGroup> own_groups(std::string_view controller, const GroupTables& tables) {
  std::vector<OwnGroup> found;
  for (const Mount& mount : parse_mounts(tables.mounts)) {
    if (mount.type == "cgroup" && has_word(mount.options, controller, ','))
      found.insert(found.begin(),
                   {mount.target, group_in(tables.groups, controller, false), false});
    if (mount.type == "cgroup2")
      found.push_back({mount.target, group_in(tables.groups, controller, true), true});
  }
  return found;
}

bool has_word(std::string_view text, std::string_view word, char separator) {
  while (true) {
    const std::size_t end = text.find(separator);
    if (text.substr(0, end) == word) return true;
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
}

}  // namespace assay::sandbox
