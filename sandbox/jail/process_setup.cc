#include "sandbox/jail/process_setup.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace assay::sandbox {
namespace {

constexpr int kHighestCapability = 63;
constexpr long kCloseRange = 436;  // the same number on every architecture

Status close_between(unsigned first, unsigned last) {
  if (first > last || ::syscall(kCloseRange, first, last, 0) == 0) return {};
  if (errno != ENOSYS) return fail_errno("close_range");
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return fail_errno("getrlimit(RLIMIT_NOFILE)");
  for (rlim_t fd = first; fd <= last && fd < files.rlim_cur; ++fd) ::close(static_cast<int>(fd));
  return {};
}

Status limit(int resource, const char* name, std::int64_t value) {
  rlimit wanted{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &wanted) != 0)
    return fail_errno(std::string("getrlimit ") + name);
  wanted.rlim_max = std::min<rlim_t>(wanted.rlim_max, static_cast<rlim_t>(value));
  wanted.rlim_cur = wanted.rlim_max;
  if (::setrlimit(static_cast<__rlimit_resource>(resource), &wanted) != 0)
    return fail_errno(std::string("setrlimit ") + name);
  return {};
}

}  // namespace

Status die_with_parent() {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return fail_errno("prctl(PR_SET_PDEATHSIG)");
  return {};
}

Status enter_session() {
  if (::setsid() < 0 && errno != EPERM)
    return fail_errno("setsid");  // EPERM: the process already leads a process group
  return {};
}

Status close_other_descriptors(std::vector<int> keep) {
  std::sort(keep.begin(), keep.end());
  unsigned next = STDERR_FILENO + 1;
  for (const int fd : keep) {
    if (fd <= STDERR_FILENO) continue;
    if (Status closed = close_between(next, static_cast<unsigned>(fd) - 1); !closed) return closed;
    next = static_cast<unsigned>(fd) + 1;
  }
  return close_between(next, ~0U);
}

Status set_resource_limits(const ResourceLimits& limits) {
  // RLIMIT_SIGPENDING limits timers and queued signals. The kernel also counts them for the user
  // that created the user namespace. All jobs share this user, so each job gets a small limit.
  const struct {
    int resource;
    const char* name;
    std::int64_t value;
  } wanted[] = {
      {RLIMIT_NPROC, "RLIMIT_NPROC", limits.processes},
      {RLIMIT_NOFILE, "RLIMIT_NOFILE", limits.open_files},
      {RLIMIT_FSIZE, "RLIMIT_FSIZE", limits.file_bytes},
      {RLIMIT_CORE, "RLIMIT_CORE", 0},
      {RLIMIT_MSGQUEUE, "RLIMIT_MSGQUEUE", 0},
      {RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK", 64 << 10},
      {RLIMIT_SIGPENDING, "RLIMIT_SIGPENDING", 1'024},
  };
  for (const auto& entry : wanted) {
    if (Status set = limit(entry.resource, entry.name, entry.value); !set) return set;
  }
  // The niceness is only raised, because the process lacks the capability that is needed to lower
  // it.
  if (limits.niceness > ::getpriority(PRIO_PROCESS, 0) &&
      ::setpriority(PRIO_PROCESS, 0, limits.niceness) != 0)
    return fail_errno("setpriority");
  if (limits.data_bytes > 0) return limit(RLIMIT_DATA, "RLIMIT_DATA", limits.data_bytes);
  return {};
}

Status become_user(uid_t id) {
  if (::setgroups(0, nullptr) != 0) return fail_errno("setgroups");
  if (::setresgid(id, id, id) != 0) return fail_errno("setresgid " + std::to_string(id));
  if (::setresuid(id, id, id) != 0) return fail_errno("setresuid " + std::to_string(id));
  return {};
}

Status drop_capability_bounds() {
  // EINVAL means that the kernel has no ambient capabilities, so there is nothing to clear.
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL)
    return fail_errno("prctl(PR_CAP_AMBIENT_CLEAR_ALL)");
  for (int capability = 0; capability <= kHighestCapability; ++capability) {
    const int held = ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    // `capability` is beyond the last capability that the kernel knows.
    if (held < 0 && errno == EINVAL) return {};
    if (held > 0 && ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0)
      return fail_errno("prctl(PR_CAPBSET_DROP)");
  }
  return {};
}

Status drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) return fail_errno("capset");
  return {};
}

Status forbid_dumps() {
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) return fail_errno("prctl(PR_SET_DUMPABLE)");
  return {};
}

Status forbid_new_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return fail_errno("prctl(PR_SET_NO_NEW_PRIVS)");
  return {};
}

}  // namespace assay::sandbox
