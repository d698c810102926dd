// Defines the rules of the system call filter (seccomp.h).
#include <linux/sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

#include "sandbox/jail/seccomp.h"

// The warnings are disabled because libseccomp's SCMP_* macros are C99 compound literals that omit
// some fields.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wc99-extensions"
#endif

namespace assay::sandbox {
namespace {

// Calls that are denied whatever their arguments are. A name is skipped if this machine's
// architecture lacks the call.
constexpr const char* kDenied[] = {
    // Calls that access the memory or the descriptors of other processes.
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "kcmp",
    "pidfd_getfd",
    "move_pages",
    "migrate_pages",
    // Calls that change mounts or namespaces.
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
    // Calls to kernel subsystems with many past vulnerabilities.
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
    // Calls that change the whole machine.
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
    // Calls that open or execute a file without its path, and the call that loads another filter.
    "name_to_handle_at",
    "open_by_handle_at",
    "execveat",
    "seccomp",
};

// Calls that create special files. A profiler may create named pipes and no other special files:
// Nsight Compute uses named pipes to communicate with the program that it launches. The pipes are
// below /tmp, which is private to the jail.
constexpr struct {
  const char* name;
  unsigned mode;  // index of the mode argument
} kMakeNodes[] = {{"mknod", 1}, {"mknodat", 2}};

// Calls that are denied only to candidates. A launcher may need them for a future GPU driver.
constexpr const char* kDeniedToCandidates[] = {
    // These calls would report what other jobs do with files that are visible to all jobs.
    "inotify_init",
    "inotify_init1",
    // The whole machine has one limit for requests of native asynchronous I/O (fs.aio-max-nr), so a
    // job could use up the limit for all other processes.
    "io_setup",
    "io_submit",
    "io_getevents",
    "io_pgetevents",
    "io_cancel",
    "io_destroy",
    // These calls write out disks that do not belong to the job. A process cannot be killed during
    // such a call.
    "sync",
    "syncfs",
    // With these calls a job could make itself wait for a processor. The supervisor takes long
    // waits
    // as proof that the machine is overloaded (candidate_end.h).
    "sched_setaffinity",
    "sched_setparam",
    "sched_setscheduler",
    "sched_setattr",
    "setpriority",
    // These calls remove pages from memory that other processes read.
    "fadvise64",
    "readahead",
};

// Calls that do nothing for candidates and report success. A job's own files are in memory and need
// no flush. To flush a file that is visible to all jobs would flush the machine's disk.
constexpr const char* kIdleForCandidates[] = {"fsync", "fdatasync", "sync_file_range"};

// Further denied calls. They are given by number, because some versions of libseccomp do not know
// their names. The numbers are the same on every architecture.
constexpr int kDeniedNumbers[] = {
    428 /* open_tree */,      429 /* move_mount */,      430 /* fsopen */,
    431 /* fsconfig */,       432 /* fsmount */,         433 /* fspick */,
    438 /* pidfd_getfd */,    440 /* process_madvise */, 442 /* mount_setattr */,
    443 /* quotactl_fd */,    447 /* memfd_secret */,    448 /* process_mrelease */,
    451 /* cachestat */,      457 /* statmount */,       458 /* listmount */,
    467 /* open_tree_attr */,
};

constexpr std::uint64_t kNamespaceFlags[] = {CLONE_NEWNS,  CLONE_NEWCGROUP, CLONE_NEWUTS,
                                             CLONE_NEWIPC, CLONE_NEWUSER,   CLONE_NEWPID,
                                             CLONE_NEWNET, CLONE_NEWTIME};

constexpr std::uint64_t kSetPtracer = 0x59616d61;  // PR_SET_PTRACER
// PR_SCHED_CORE creates a cookie that keeps other processes off the sibling hardware thread of a
// CPU core.
constexpr std::uint64_t kSchedCore = 62;
// PR_SET_MEMORY_MERGE lets the kernel merge pages of this process with equal pages of other
// processes. The first write to a merged page takes longer, which reveals that another process has
// a page with the same content.
constexpr std::uint64_t kMemoryMerge = 67;
constexpr std::uint64_t kDeniedPrctl[] = {PR_SET_SECCOMP,    PR_SET_DUMPABLE,  PR_SET_MM,
                                          PR_SET_SECUREBITS, PR_SET_PDEATHSIG, kSetPtracer,
                                          kSchedCore,        kMemoryMerge};

constexpr std::uint64_t kTerminalInjections[] = {0x5412 /* TIOCSTI */, 0x541c /* TIOCLINUX */};

constexpr std::uint64_t kDeniedFcntl[] = {1024 /* F_SETLEASE */, 1026 /* F_NOTIFY */};
constexpr std::uint64_t kShmHugePages = 04000;  // SHM_HUGETLB

// Calls that can send or receive an urgent byte, with the index of the argument that contains the
// flags.
constexpr struct {
  const char* name;
  unsigned flags;
} kUrgent[] = {{"sendto", 3},   {"sendmsg", 2}, {"sendmmsg", 3},
               {"recvfrom", 3}, {"recvmsg", 2}, {"recvmmsg", 3}};

constexpr std::uint64_t kPeerPidfd = 77;  // SO_PEERPIDFD
constexpr std::uint64_t kPassPidfd = 76;  // SO_PASSPIDFD
constexpr std::uint64_t kQueryPersonality = 0xffffffff;
constexpr std::uint64_t kLow32 = 0xffffffff;
constexpr int kClone3 = 435;  // the same number on every architecture

Status check(int result, const std::string& what) {
  if (result < 0 && result != -EEXIST) return fail_errno("seccomp rule for " + what, -result);
  return {};
}

Status deny(scmp_filter_ctx filter, int call, const std::string& name) {
  return check(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0), name);
}

/// Denies a call with the error number `error` if all conditions are true.
Status deny_when(scmp_filter_ctx filter, const char* name, int error,
                 std::initializer_list<scmp_arg_cmp> conditions) {
  const int call = seccomp_syscall_resolve_name(name);
  if (call == __NR_SCMP_ERROR)
    return fail(ErrorCode::internal, std::string("libseccomp does not know ") + name);
  const auto count = static_cast<unsigned>(conditions.size());
  return check(seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)),
                                      call, count, conditions.begin()),
               name);
}

Status deny_when(scmp_filter_ctx filter, const char* name, int error, scmp_arg_cmp condition) {
  return deny_when(filter, name, error, {condition});
}

Status deny_by_argument(scmp_filter_ctx filter) {
  for (const std::uint64_t flag : kNamespaceFlags) {
    if (Status added = deny_when(filter, "clone", EPERM, SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag));
        !added)
      return added;
  }
  for (const std::uint64_t option : kDeniedPrctl) {
    if (Status added =
            deny_when(filter, "prctl", EPERM, SCMP_A0(SCMP_CMP_MASKED_EQ, kLow32, option));
        !added)
      return added;
  }
  // MADV_MERGEABLE has the same effect on a range of memory as PR_SET_MEMORY_MERGE on a process.
  if (Status added =
          deny_when(filter, "madvise", EPERM, SCMP_A2(SCMP_CMP_MASKED_EQ, kLow32, MADV_MERGEABLE));
      !added)
    return added;
  for (const std::uint64_t request : kTerminalInjections) {
    if (Status added =
            deny_when(filter, "ioctl", EPERM, SCMP_A1(SCMP_CMP_MASKED_EQ, kLow32, request));
        !added)
      return added;
  }
  // These rules allow only unix and IPv4 sockets. deny_to_candidates() also denies IPv4 sockets. No
  // process needs sockets of other families (netlink, packet, vsock, AF_ALG, ...), and no namespace
  // confines some of these families.
  for (const char* name : {"socket", "socketpair"}) {
    if (Status added = deny_when(filter, name, EAFNOSUPPORT, SCMP_A0(SCMP_CMP_GT, AF_INET)); !added)
      return added;
  }
  return deny_when(filter, "personality", EPERM, SCMP_A0(SCMP_CMP_NE, kQueryPersonality));
}

/// Denies all kinds of special files except named pipes. Four bits of the mode give the kind of the
/// file. A rule cannot express "is not a named pipe". So the rules deny every mode without the bit
/// of named pipes, and every mode with any of the other three bits.
Status deny_other_nodes(scmp_filter_ctx filter, int call, const char* name, unsigned mode) {
  static_assert((S_IFMT & ~S_IFIFO) == (S_IFCHR | S_IFDIR | S_IFREG));
  const scmp_arg_cmp others[] = {
      SCMP_CMP(mode, SCMP_CMP_MASKED_EQ, S_IFIFO, 0),
      SCMP_CMP(mode, SCMP_CMP_MASKED_EQ, S_IFCHR, S_IFCHR),
      SCMP_CMP(mode, SCMP_CMP_MASKED_EQ, S_IFDIR, S_IFDIR),
      SCMP_CMP(mode, SCMP_CMP_MASKED_EQ, S_IFREG, S_IFREG),
  };
  for (const scmp_arg_cmp& other : others) {
    if (Status denied =
            check(seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), call, 1, &other), name);
        !denied)
      return denied;
  }
  return {};
}

Status deny_nodes(scmp_filter_ctx filter, bool pipes_allowed) {
  for (const auto& make : kMakeNodes) {
    const int call = seccomp_syscall_resolve_name(make.name);
    if (call < 0) continue;
    if (Status denied = pipes_allowed ? deny_other_nodes(filter, call, make.name, make.mode)
                                      : deny(filter, call, make.name);
        !denied)
      return denied;
  }
  return {};
}

Status deny_names(scmp_filter_ctx filter, std::span<const char* const> names) {
  for (const char* name : names) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call == __NR_SCMP_ERROR || call < 0) continue;
    if (Status denied = deny(filter, call, name); !denied) return denied;
  }
  return {};
}

Status deny_to_candidates(scmp_filter_ctx filter) {
  if (Status named = deny_names(filter, kDeniedToCandidates); !named) return named;
  // The network namespace confines TCP to the job's own loopback interface. But a job could send a
  // TCP socket with SO_LINGER to the supervisor, which would then block in close().
  if (Status added = deny_when(filter, "socket", EAFNOSUPPORT, SCMP_A0(SCMP_CMP_EQ, AF_INET));
      !added)
    return added;
  // A process at its limit of processor time gets SIGKILL. The supervisor takes SIGKILL as proof
  // that something outside the sandbox killed the candidate (candidate_end.h).
  if (Status limited =
          deny_when(filter, "setrlimit", EPERM, SCMP_A0(SCMP_CMP_MASKED_EQ, kLow32, RLIMIT_CPU));
      !limited)
    return limited;
  if (Status limited =
          deny_when(filter, "prlimit64", EPERM,
                    {SCMP_A1(SCMP_CMP_MASKED_EQ, kLow32, RLIMIT_CPU), SCMP_A2(SCMP_CMP_NE, 0)});
      !limited)
    return limited;
  // Leases and notifications on files that are visible to all jobs would report what other jobs do
  // with these files.
  for (const std::uint64_t command : kDeniedFcntl) {
    if (Status added =
            deny_when(filter, "fcntl", EPERM, SCMP_A1(SCMP_CMP_MASKED_EQ, kLow32, command));
        !added)
      return added;
  }
  for (const char* name : kIdleForCandidates) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call < 0) continue;
    if (Status idle = check(seccomp_rule_add(filter, SCMP_ACT_ERRNO(0), call, 0), name); !idle)
      return idle;
  }
  if (Status idle = deny_when(filter, "msync", 0, SCMP_A2(SCMP_CMP_MASKED_EQ, MS_SYNC, MS_SYNC));
      !idle)
    return idle;
  // Urgent bytes on unix sockets are a recent feature that no submission needs. A bug in this
  // feature allowed a process to write to freed kernel memory (CVE-2025-38236).
  for (const auto& call : kUrgent) {
    if (Status added = deny_when(filter, call.name, EOPNOTSUPP,
                                 SCMP_CMP(call.flags, SCMP_CMP_MASKED_EQ, MSG_OOB, MSG_OOB));
        !added)
      return added;
  }
  // With these options a process receives a handle (pidfd) of its peer or of a message's sender.
  // For a job, the peer and the sender are the supervisor. The handle works across pid namespaces.
  // Older kernels lack these options.
  for (const auto& [name, option] :
       {std::pair("getsockopt", kPeerPidfd), std::pair("setsockopt", kPassPidfd)}) {
    const std::initializer_list<scmp_arg_cmp> asked = {
        SCMP_A1(SCMP_CMP_MASKED_EQ, kLow32, SOL_SOCKET),
        SCMP_A2(SCMP_CMP_MASKED_EQ, kLow32, option)};
    if (Status handle = deny_when(filter, name, ENOPROTOOPT, asked); !handle) return handle;
  }
  // Huge pages come from one pool for the whole machine, and the memory cgroup does not count them.
  if (Status mapped =
          deny_when(filter, "mmap", EPERM, SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_HUGETLB, MAP_HUGETLB));
      !mapped)
    return mapped;
  if (Status file = deny_when(filter, "memfd_create", EPERM,
                              SCMP_A1(SCMP_CMP_MASKED_EQ, MFD_HUGETLB, MFD_HUGETLB));
      !file)
    return file;
  return deny_when(filter, "shmget", EPERM,
                   SCMP_A2(SCMP_CMP_MASKED_EQ, kShmHugePages, kShmHugePages));
}

}  // namespace

Status add_seccomp_rules(void* filter, SeccompProfile profile) {
  if (Status named = deny_names(filter, kDenied); !named) return named;
  for (const int call : kDeniedNumbers) {
    if (Status denied = deny(filter, call, std::to_string(call)); !denied) return denied;
  }
  // The flags of clone3 are in memory, which a filter cannot read. If clone3 fails with ENOSYS, the
  // C library uses clone instead.
  if (Status clone3 = check(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), kClone3, 0), "clone3");
      !clone3)
    return clone3;
  if (Status denied = deny_by_argument(filter); !denied) return denied;
  if (Status nodes = deny_nodes(filter, profile == SeccompProfile::profiler); !nodes) return nodes;
  return profile == SeccompProfile::candidate ? deny_to_candidates(filter) : Status();
}

}  // namespace assay::sandbox
