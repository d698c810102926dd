#include "sandbox/jail/launch_jail.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "sandbox/jail/landlock.h"
#include "sandbox/jail/mounts.h"
#include "sandbox/jail/namespaces.h"
#include "sandbox/jail/process_setup.h"
#include "sandbox/jail/root_filesystem.h"
#include "sandbox/jail/seccomp.h"

namespace assay::sandbox {
namespace {

constexpr int kUsers = 1;  // number of user ids in the user namespace, besides root

/// Returns true if every user of the machine may read and write the GPU's device files. Only then
/// can the launcher change its user id and still use the GPU.
bool open_to_all(const std::vector<std::string>& devices) {
  return std::all_of(devices.begin(), devices.end(), [](const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0 &&
           (facts.st_mode & (S_IROTH | S_IWOTH)) == (S_IROTH | S_IWOTH);
  });
}

/// Changes to a user id that owns nothing. If this fails, the launcher keeps its user id, but it
/// still gives up its capabilities.
Status become_nobody(const std::vector<std::string>& devices) {
  if (!open_to_all(devices))
    return fail(ErrorCode::unavailable, "the GPU's device files are not open to all users");
  const Result<uid_t> user = slot_user(0);
  return user ? become_user(*user) : fail(user.error());
}

/// Adds /proc to the device files, because a GPU's driver writes the names of its threads to
/// /proc/self/task. The process cannot write to most other files of /proc, because they belong to
/// other users.
std::vector<std::string> writable_files(std::vector<std::string> devices) {
  devices.emplace_back("/proc");
  return devices;
}

}  // namespace

Result<std::vector<LayerReport>> enter_launch_jail(const LaunchJail& config) {
  LayerList layers(config.strict);
  layers.apply("launch_descriptors", [&] {
    return close_other_descriptors({config.keep_fd, config.emulator_fd});
  });
  layers.apply("launch_session", enter_session);
  const Result<SeccompFilter> filter =
      SeccompFilter::build(config.profile ? SeccompProfile::profiler : SeccompProfile::launcher);
  layers.apply("launch_user_namespace", [] {
    const Result<int> users = enter_user_namespace(kUsers);
    return users ? Status() : fail(users.error());
  });
  const bool own_network = layers.apply("launch_network_namespace", enter_network_namespace);
  layers.apply("launch_ipc_namespace", enter_ipc_namespace);
  layers.apply("launch_uts_namespace", enter_uts_namespace);
  if (layers.apply("launch_mount_namespace", enter_mount_namespace)) {
    RootFilesystem root{
        .binds = config.libraries, .links = {}, .devices = config.devices, .host_proc = true};
    root.binds.emplace_back("/sys");  // a driver finds the GPUs and their buses in /sys
    Status entered;
    layers.apply("launch_root_filesystem", [&] {
      const Result<std::string> made = enter_root_filesystem(root);
      return entered = made ? Status() : fail(made.error());
    });
    // An error here ends the process, because the process must not run with a half-built root
    // filesystem.
    if (!entered) return fail(entered.error());
  } else {
    layers.missing("launch_root_filesystem", "there is no mount namespace to build it in");
  }
  layers.apply("launch_limits", [&] { return set_resource_limits(config.limits); });
  layers.apply("launch_capability_bounds", drop_capability_bounds);
  layers.apply("launch_user", [&] { return become_nobody(config.devices); });
  layers.apply("launch_capabilities", drop_capabilities);
  layers.apply("launch_no_dumps", forbid_dumps);
  layers.apply("launch_parent_death", die_with_parent);
  layers.apply("launch_no_new_privileges", forbid_new_privileges);
  // TCP is allowed only to a profiler, and only if the jail has its own loopback interface.
  layers.apply("launch_landlock", [&] {
    return restrict_with_landlock({"/tmp", "/dev/shm"}, writable_files(config.devices),
                                  config.profile && own_network);
  });
  layers.apply("launch_seccomp", [&] { return filter ? filter->load() : fail(filter.error()); });
  if (Status complete = layers.status(); !complete) return fail(complete.error());
  return layers.layers();
}

}  // namespace assay::sandbox
