#include "sandbox/jail/mutation.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace assay::sandbox {
namespace {

#ifdef ASSAY_JAIL_MUTATIONS
constexpr bool kPossible = true;
#else
constexpr bool kPossible = false;
#endif

constexpr std::array<std::string_view, 49> kLayers = {
    "user_namespace",
    "network_namespace",
    "ipc_namespace",
    "uts_namespace",
    "zygote_pid_namespace",
    "mount_namespace",
    "root_filesystem",
    "proc",
    "descriptors",
    "session",
    "parent_death",
    "cgroup_memory",
    "cgroup_pids",
    "cgroup_cpu",
    "pid_namespace",
    "job_descriptors",
    "job_session",
    "job_ipc_namespace",
    "job_network_namespace",
    "job_mount_namespace",
    "job_tmp",
    "job_shm",
    "job_proc",
    "job_limits",
    "job_parent_death",
    "capability_bounds",
    "slot_user",
    "capabilities",
    "no_dumps",
    "no_new_privileges",
    "landlock",
    "seccomp",
    "launch_descriptors",
    "launch_session",
    "launch_user_namespace",
    "launch_network_namespace",
    "launch_ipc_namespace",
    "launch_uts_namespace",
    "launch_mount_namespace",
    "launch_root_filesystem",
    "launch_limits",
    "launch_capability_bounds",
    "launch_user",
    "launch_capabilities",
    "launch_no_dumps",
    "launch_parent_death",
    "launch_no_new_privileges",
    "launch_landlock",
    "launch_seccomp",
};

std::string& left_out() {
  static std::string names;
  return names;
}

bool contains(const std::string& names, std::string_view wanted) {
  std::istringstream parts(names);
  for (std::string name; std::getline(parts, name, ',');) {
    if (name == wanted) return true;
  }
  return false;
}

}  // namespace

bool mutations_possible() { return kPossible; }

Status leave_out(const std::string& names) {
  if (!kPossible)
    return fail(ErrorCode::unavailable,
                "layers can only be left out in a build with ASSAY_JAIL_MUTATIONS=ON");
  std::istringstream parts(names);
  for (std::string name; std::getline(parts, name, ',');) {
    if (std::find(kLayers.begin(), kLayers.end(), name) != kLayers.end()) continue;
    std::string valid;
    for (const std::string_view layer : kLayers)
      valid += (valid.empty() ? "" : ", ") + std::string(layer);
    return fail(ErrorCode::invalid_argument, "unknown layer '" + name + "'; valid: " + valid);
  }
  left_out() = names;
  return {};
}

const std::string& left_out_layers() { return left_out(); }

Status check_not_left_out(std::string_view layer) {
  if (kPossible && contains(left_out(), layer))
    return fail(ErrorCode::unavailable, "left out for a mutation run");
  return {};
}

}  // namespace assay::sandbox
