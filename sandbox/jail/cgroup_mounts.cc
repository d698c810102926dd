#include "sandbox/jail/cgroup_mounts.h"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "base/small_file.h"
#include "base/unique_fd.h"

namespace assay::sandbox {
namespace {

bool has_word(std::string text, const std::string& word, char separator) {
  std::istringstream words(std::move(text));
  for (std::string part; std::getline(words, part, separator);) {
    if (part == word) return true;
  }
  return false;
}

struct Hierarchy {
  std::string mount;  // where it is mounted
  bool version2 = false;
};

/// Returns the hierarchies that could have the controller: version 1's own first, then version 2.
std::vector<Hierarchy> hierarchies(const std::string& controller) {
  std::vector<Hierarchy> found;
  std::ifstream mounts("/proc/self/mounts");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string source, target, type, options;
    fields >> source >> target >> type >> options;
    if (type == "cgroup" && has_word(options, controller, ','))
      found.insert(found.begin(), {target, false});
    if (type == "cgroup2") found.push_back({target, true});
  }
  return found;
}

/// Returns this process's own group in that hierarchy, e.g. "/user.slice".
std::string own_group(const std::string& controller, bool version2) {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version2 ? controllers.empty() : has_word(controllers, controller, ','))
      return line.substr(second + 1);
  }
  return "/";
}

/// Gives the controller to the groups below a version 2 folder. The kernel refuses if that folder
/// has processes of its own.
Status enable(const std::string& folder, const std::string& controller) {
  const std::string path = folder + "/cgroup.subtree_control";
  std::string enabled = read_kernel_file(path);
  while (!enabled.empty() && enabled.back() == '\n') enabled.pop_back();
  if (has_word(enabled, controller, ' ')) return {};
  return write_kernel_file(path, "+" + controller);
}

}  // namespace

std::string read_kernel_file(const std::string& path) { return read_small_file(path); }

Status write_kernel_file(const std::string& path, const std::string& text) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return fail_errno("open " + path);
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return fail_errno("write " + text + " to " + path);
  return {};
}

Result<CgroupPlace> find_cgroup_place(const std::string& controller) {
  std::string why = "no cgroup hierarchy with the controller " + controller + " is mounted";
  for (const Hierarchy& hierarchy : hierarchies(controller)) {
    const std::string own = own_group(controller, hierarchy.version2);
    for (const std::string& group : {own, std::string("/")}) {
      const std::string folder = hierarchy.mount + (group == "/" ? "" : group);
      if (::access(folder.c_str(), F_OK) != 0) continue;
      if (::access(folder.c_str(), W_OK) != 0) {
        why = folder +
              " is not writable (needs root or a delegated group: systemd-run --user --scope -p "
              "Delegate=yes ...)";
        continue;
      }
      if (!hierarchy.version2) return CgroupPlace{folder, false};
      const Status enabled = enable(folder, controller);
      if (enabled) return CgroupPlace{folder, true};
      why = enabled.error().message;
    }
  }
  return fail(ErrorCode::unavailable, why);
}

}  // namespace assay::sandbox
