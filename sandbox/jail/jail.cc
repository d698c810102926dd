#include "sandbox/jail/jail.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "base/stderr_line.h"
#include "sandbox/jail/landlock.h"
#include "sandbox/jail/layer.h"
#include "sandbox/jail/mounts.h"
#include "sandbox/jail/namespaces.h"
#include "sandbox/jail/process_setup.h"
#include "sandbox/jail/root_filesystem.h"
#include "sandbox/jail/seccomp.h"

namespace assay::sandbox {
namespace {

constexpr int kExecFailed = 127;
// If a signal ended the command, the exit status is this value plus the signal's number, as in
// shells.
constexpr int kSignalStatus = 128;
// If a slot has no user id of its own, the slots share one user id, and the kernel counts all
// processes of this user id together. In this case the process limit of a job is raised by this
// number.
constexpr std::int64_t kSharedUserSlack = 4'096;

const std::vector<std::pair<std::string, std::string>> kFixedEnvironment = {
    {"PATH", "/usr/local/bin:/usr/bin:/bin"},
    {"HOME", "/tmp"},
    {"TMPDIR", "/tmp"},
    {"USER", "assay"},
    {"LOGNAME", "assay"},
    {"LANG", "C.UTF-8"},
    // Each library uses one thread, because threads do not survive a fork, and because jobs share
    // the machine's CPU cores.
    {"OMP_NUM_THREADS", "1"},
    {"OPENBLAS_NUM_THREADS", "1"},
    {"MKL_NUM_THREADS", "1"},
    // malloc takes memory from the kernel in steps of 16 MiB (top_pad) and asks for huge pages
    // (hugetlb), because compilers touch much new memory, and page faults take a fifth of their
    // time. It keeps freed blocks of up to 32 MiB (mmap_threshold), and up to 64 MiB at the
    // end of its memory (trim_threshold). Without these two values, top_pad would end glibc's own
    // adaptation of the thresholds, and each tensor of 128 KiB and more would be mapped anew.
    {"GLIBC_TUNABLES",
     "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216:glibc.malloc.mmap_threshold=33554432:"
     "glibc.malloc.trim_threshold=67108864"},
    {"CUDA_VISIBLE_DEVICES", ""},
    {"PYTHONDONTWRITEBYTECODE", "1"},
    {"TRITON_CACHE_DIR", "/tmp/triton-cache"},
    {"TORCHINDUCTOR_CACHE_DIR", "/tmp/inductor-cache"},
};

const Result<SeccompFilter>& seccomp_filter() {
  static const Result<SeccompFilter> filter = SeccompFilter::build(SeccompProfile::candidate);
  return filter;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& text : strings) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

/// Returns the environment as "NAME=value" strings in this order: the fixed list without the names
/// that `added` contains, the variables of `added`, and ASSAY_TEMPLATE_LAYERS.
std::vector<std::string> jail_environment(
    const std::vector<std::pair<std::string, std::string>>& added,
    const std::vector<LayerReport>& layers) {
  std::vector<std::string> out;
  const auto is_added = [&](const std::string& name) {
    return std::any_of(added.begin(), added.end(),
                       [&](const auto& entry) { return entry.first == name; });
  };
  for (const auto& [name, value] : kFixedEnvironment) {
    if (!is_added(name)) out.push_back(name + "=" + value);
  }
  for (const auto& [name, value] : added) out.push_back(name + "=" + value);
  out.push_back("ASSAY_TEMPLATE_LAYERS=" + layers_json(layers));
  return out;
}

/// Executes the command in the jail's environment. Returns only on failure.
Status execute(const std::vector<std::string>& command,
               const std::vector<std::pair<std::string, std::string>>& added,
               const std::vector<LayerReport>& layers) {
  const std::vector<std::string> environment = jail_environment(added, layers);
  ::execve(command.front().c_str(), pointers(command).data(), pointers(environment).data());
  return fail_errno("execve " + command.front());
}

/// Runs in the first process of the pid namespace. Applies the remaining isolation layers, then
/// executes the command. Returns only on failure.
Status finish_template_jail(const TemplateJail& config, const RootFilesystem& root,
                            LayerList layers) {
  if (layers.apply("mount_namespace", enter_mount_namespace)) {
    Result<std::string> lacks = std::string();
    const bool entered = layers.apply("root_filesystem", [&] {
      lacks = enter_root_filesystem(root);
      return lacks ? Status() : fail(lacks.error());
    });
    // A half-built root filesystem must not be used, so every error of enter_root_filesystem() ends
    // the process.
    if (!lacks) return fail(lacks.error());
    if (entered)
      layers.add("proc", lacks->empty() ? Status() : fail(ErrorCode::unavailable, *lacks));
  } else {
    for (const char* part : {"root_filesystem", "proc"})
      layers.missing(part, "there is no mount namespace to build it in");
  }
  layers.apply("descriptors", [&] { return close_other_descriptors({config.keep_fd}); });
  layers.apply("session", enter_session);
  layers.apply("parent_death", die_with_parent);
  if (Status complete = layers.status(); !complete) return complete;
  return execute(config.command, config.environment, layers.layers());
}

/// Adds /proc to the device files of a GPU, because the GPU's driver writes the names of its
/// threads to /proc/self/task.
std::vector<std::string> usable_files(std::vector<std::string> devices) {
  if (!devices.empty()) devices.emplace_back("/proc");
  return devices;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalStatus + WTERMSIG(status);
}

}  // namespace

Result<int> run_in_template_jail(const TemplateJail& config) {
  RootFilesystem root;
  root.binds = config.binds;
  Result<PythonFiles> python = find_python_files(config.python);
  if (!python) return fail(python.error());
  root.binds.insert(root.binds.end(), python->directories.begin(), python->directories.end());
  root.links = python->links;
  root.devices = config.devices;
  if (!root.devices.empty())
    root.binds.emplace_back("/sys");  // a driver finds the GPUs and their buses in /sys

  LayerList layers(config.strict);
  layers.apply("user_namespace", [&] {
    const Result<int> slots = enter_user_namespace(config.slots);
    return slots ? Status() : fail(slots.error());
  });
  layers.apply("network_namespace", enter_network_namespace);
  layers.apply("ipc_namespace", enter_ipc_namespace);
  layers.apply("uts_namespace", enter_uts_namespace);
  layers.apply("zygote_pid_namespace", make_child_pid_namespace);
  if (Status parent = die_with_parent(); !parent) return fail(parent.error());
  const pid_t child = ::fork();
  if (child < 0) return fail_errno("fork");
  if (child == 0) {
    const Status failed = finish_template_jail(config, root, std::move(layers));
    stderr_line("assay-jail: " + failed.error().message);
    ::_exit(kExecFailed);
  }
  if (Status closed = close_other_descriptors({}); !closed) return fail(closed.error());
  return wait_for(child);
}

Status prepare_job_jail() {
  if (!seccomp_filter()) return fail(seccomp_filter().error());
  return {};
}

Result<std::vector<LayerReport>> enter_job_jail(const JobJail& config) {
  const Result<uid_t> user = slot_user(config.slot);
  ResourceLimits limits = config.limits;
  if (!user) limits.processes += kSharedUserSlack;

  LayerList layers(config.strict);
  layers.apply("job_descriptors", [&] { return close_other_descriptors({config.job_fd}); });
  layers.apply("job_session", enter_session);
  layers.apply("job_ipc_namespace", enter_ipc_namespace);
  // Without this layer, two simultaneous jobs would share a network namespace, and could
  // communicate over the loopback interface or abstract sockets.
  layers.apply("job_network_namespace", enter_network_namespace);
  // These mounts need a separate mount namespace. Without it, they would cover folders of the
  // machine itself.
  if (layers.apply("job_mount_namespace", enter_mount_namespace)) {
    layers.apply("job_tmp", [&] {
      return mount_tmpfs_keeping_mounts("/tmp", config.tmp_bytes, config.tmp_inodes, "1777");
    });
    layers.apply("job_shm", [&] {
      return mount_tmpfs_keeping_mounts("/dev/shm", config.tmp_bytes, config.tmp_inodes, "1777");
    });
    if (layers.apply("job_proc", [] { return mount_proc("/proc"); }))
      layers.apply("job_proc_facts", [] { return empty_machine_files("/proc"); });
    else
      layers.missing("job_proc_facts", "there is no /proc of the job");
  } else {
    for (const char* mount : {"job_tmp", "job_shm", "job_proc", "job_proc_facts"})
      layers.missing(mount, "there is no mount namespace to mount it in");
  }
  if (::chdir("/tmp") != 0) layers.missing("job_folder", "chdir /tmp failed");
  layers.apply("job_limits", [&] { return set_resource_limits(limits); });
  layers.apply("capability_bounds", drop_capability_bounds);
  layers.apply("slot_user", [&] { return user ? become_user(*user) : fail(user.error()); });
  layers.apply("capabilities", drop_capabilities);
  layers.apply("no_dumps", forbid_dumps);
  layers.apply("job_parent_death", die_with_parent);
  layers.apply("no_new_privileges", forbid_new_privileges);
  layers.apply("landlock", [&] {
    return restrict_with_landlock({"/tmp", "/dev/shm"}, usable_files(config.devices));
  });
  layers.apply("seccomp", [] {
    return seccomp_filter() ? seccomp_filter()->load() : fail(seccomp_filter().error());
  });
  if (Status complete = layers.status(); !complete) return fail(complete.error());
  return layers.layers();
}

}  // namespace assay::sandbox
