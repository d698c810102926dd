#include "sandbox/jail/seccomp_rules.h"

#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <string>

// libseccomp's SCMP_* macros are C99 compound literals without every field.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wc99-extensions"
#endif

namespace assay::sandbox {
namespace {

// Denied whatever the arguments are. Names that this machine's architecture does not have are passed over.
constexpr const char* kDenied[] = {
    // other processes' memory and descriptors
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "kcmp",
    "pidfd_getfd",
    "move_pages",
    "migrate_pages",
    // mounts and namespaces
    "mount",
    "umount",
    "umount2",
    "pivot_root",
    "chroot",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "move_mount",
    "open_tree",
    "mount_setattr",
    "unshare",
    "setns",
    "quotactl",
    "quotactl_fd",
    "swapon",
    "swapoff",
    // kernel subsystems with a history
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "add_key",
    "request_key",
    "keyctl",
    "fanotify_init",
    "memfd_secret",
    "nfsservctl",
    "lookup_dcookie",
    "uselib",
    "ustat",
    "sysfs",
    "_sysctl",
    "vm86",
    "vm86old",
    "modify_ldt",
    // the machine
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "create_module",
    "query_module",
    "get_kernel_syms",
    "reboot",
    "acct",
    "syslog",
    "iopl",
    "ioperm",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "stime",
    "sethostname",
    "setdomainname",
    "vhangup",
    // ways around a path or a filter
    "name_to_handle_at",
    "open_by_handle_at",
    "execveat",
    "seccomp",
    "mknod",
    "mknodat",
};

// The same for calls that are younger than some versions of the library; their numbers are the same on every architecture.
constexpr int kDeniedNumbers[] = {
    428 /* open_tree */,    429 /* move_mount */,       430 /* fsopen */,          431 /* fsconfig */,      432 /* fsmount */,
    433 /* fspick */,       438 /* pidfd_getfd */,      440 /* process_madvise */, 442 /* mount_setattr */, 443 /* quotactl_fd */,
    447 /* memfd_secret */, 448 /* process_mrelease */, 457 /* statmount */,       458 /* listmount */,     467 /* open_tree_attr */,
};

constexpr std::uint64_t kNamespaceFlags[] = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                             CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET, CLONE_NEWTIME};

constexpr std::uint64_t kSetPtracer = 0x59616d61;  // PR_SET_PTRACER
constexpr std::uint64_t kDeniedPrctl[] = {PR_SET_SECCOMP, PR_SET_DUMPABLE, PR_SET_MM, PR_SET_SECUREBITS, PR_SET_PDEATHSIG, kSetPtracer};

constexpr std::uint64_t kTerminalInjections[] = {0x5412 /* TIOCSTI */, 0x541c /* TIOCLINUX */};

constexpr std::uint64_t kQueryPersonality = 0xffffffff;
constexpr std::uint64_t kLow32 = 0xffffffff;
constexpr int kClone3 = 435;  // the same number on every architecture

Status check(int result, const std::string& what) {
  if (result < 0 && result != -EEXIST) return fail_errno("seccomp rule for " + what, -result);
  return {};
}

Status deny(scmp_filter_ctx filter, int call, const std::string& name) { return check(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0), name); }

Status deny_when(scmp_filter_ctx filter, const char* name, int error, scmp_arg_cmp condition) {
  const int call = seccomp_syscall_resolve_name(name);
  if (call == __NR_SCMP_ERROR) return fail(ErrorCode::internal, std::string("libseccomp does not know ") + name);
  return check(seccomp_rule_add(filter, SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)), call, 1, condition), name);
}

Status deny_by_argument(scmp_filter_ctx filter) {
  for (const std::uint64_t flag : kNamespaceFlags) {
    if (Status added = deny_when(filter, "clone", EPERM, SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag)); !added) return added;
  }
  for (const std::uint64_t option : kDeniedPrctl) {
    if (Status added = deny_when(filter, "prctl", EPERM, SCMP_A0(SCMP_CMP_MASKED_EQ, kLow32, option)); !added) return added;
  }
  for (const std::uint64_t request : kTerminalInjections) {
    if (Status added = deny_when(filter, "ioctl", EPERM, SCMP_A1(SCMP_CMP_MASKED_EQ, kLow32, request)); !added) return added;
  }
  // Unix (1) and IPv4 (2) are left: the network namespace has nothing but lo. Netlink, packet, vsock, AF_ALG and the rest are not namespaced or not needed.
  for (const char* name : {"socket", "socketpair"}) {
    if (Status added = deny_when(filter, name, EAFNOSUPPORT, SCMP_A0(SCMP_CMP_GT, AF_INET)); !added) return added;
  }
  return deny_when(filter, "personality", EPERM, SCMP_A0(SCMP_CMP_NE, kQueryPersonality));
}

}  // namespace

Status add_seccomp_rules(scmp_filter_ctx filter) {
  for (const char* name : kDenied) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call == __NR_SCMP_ERROR || call < 0) continue;
    if (Status denied = deny(filter, call, name); !denied) return denied;
  }
  for (const int call : kDeniedNumbers) {
    if (Status denied = deny(filter, call, std::to_string(call)); !denied) return denied;
  }
  // Its flags lie in memory, where a filter cannot look; the C library falls back to clone.
  if (Status clone3 = check(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), kClone3, 0), "clone3"); !clone3) return clone3;
  return deny_by_argument(filter);
}

}  // namespace assay::sandbox
