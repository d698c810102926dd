// Tests the launcher's jail, both for performing plans and for running a profiler. A forked child
// enters the jail and tries what an attacker with control of the driver's code could try.
#include "sandbox/jail/launch_jail.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "sandbox/jail/landlock.h"
#include "tests/catch.h"
#include "tests/sandbox/jail/attempts.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

constexpr int kLandlockOfTcp = 4;  // the first version of Landlock that can restrict TCP

/// Runs `attempt` in a child inside a launcher's jail, and checks that every expectation was met.
template <class Attempt>
void expect_all_held(bool profile, Attempt attempt) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto layers = enter_launch_jail({.devices = {}, .libraries = {}, .profile = profile});
    const bool whole =
        layers && std::all_of(layers->begin(), layers->end(), [](const LayerReport& layer) {
          return layer.active || layer.name == "launch_user";
        });
    ::_exit(whole ? attempt() : kNoJail);
  }
  INFO("profile " << profile);
  check_all_held(status_of(child));
}

bool can_connect_by_tcp() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::listen(listener, 1) != 0)
    return false;
  if (::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  return ::connect(::socket(AF_INET, SOCK_STREAM, 0), reinterpret_cast<const sockaddr*>(&address),
                   size) == 0;
}

}  // namespace

TEST_CASE("only a profiler may use named pipes and TCP over its own loopback") {
  expect_all_held(false, [] {
    if (!denied(::mkfifo("/tmp/pipe", 0600))) return 1;
    if (!denied(::syscall(SYS_mknod, "/tmp/pipe", S_IFIFO | 0600, 0))) return 2;
    return landlock_version() >= kLandlockOfTcp && can_connect_by_tcp() ? 3 : 0;
  });
  expect_all_held(true, [] {
    if (::mkfifo("/tmp/pipe", 0600) != 0) return 1;
    if (::syscall(SYS_mknod, "/tmp/another", S_IFIFO | 0666, 0) != 0) return 2;
    struct stat facts {};
    if (::stat("/tmp/pipe", &facts) != 0 || !S_ISFIFO(facts.st_mode)) return 3;
    if (!denied(::mkfifo("/usr/pipe", 0600), EROFS)) return 4;
    return can_connect_by_tcp() ? 0 : 5;
  });
}

TEST_CASE("system calls that reach out of the launcher's jail are denied, for a profiler too") {
  for (const bool profile : {false, true}) {
    expect_all_held(profile, [] {
      int number = 1;
      for (const int kind : {S_IFREG, S_IFDIR, S_IFCHR, S_IFBLK, S_IFSOCK, S_IFLNK, 0}) {
        if (!denied(::syscall(SYS_mknodat, AT_FDCWD, "/tmp/node", kind | 0600, makedev(1, 3))))
          return number;
        ++number;
        if (!denied(::syscall(SYS_mknod, "/tmp/node", kind | 0600, makedev(1, 3)))) return number;
        ++number;
      }
      if (!denied(::ptrace(PTRACE_TRACEME, 0, 0, 0))) return 21;
      if (!denied(::syscall(SYS_personality, 0x0040000))) return 22;
      if (!denied(::syscall(SYS_execveat, 0, "", nullptr, nullptr, AT_EMPTY_PATH))) return 23;
      if (!denied(::unshare(CLONE_NEWUSER))) return 24;
      if (!denied(::mount("none", "/tmp", "tmpfs", 0, nullptr))) return 25;
      if (!denied(::syscall(SYS_process_vm_readv, 1, nullptr, 0, nullptr, 0, 0))) return 26;
      if (!denied(::syscall(SYS_bpf, 0, 0, 0))) return 27;
      if (!denied(::prctl(PR_SET_DUMPABLE, 1))) return 28;
      if (!denied(::prctl(67 /* PR_SET_MEMORY_MERGE */, 1, 0, 0, 0))) return 32;
      if (!denied(::madvise(nullptr, 4096, MADV_MERGEABLE))) return 33;
      if (!denied(::socket(AF_NETLINK, SOCK_RAW, 0), EAFNOSUPPORT)) return 29;
      if (::open("/etc/passwd", O_RDONLY) >= 0) return 30;
      return ::open("/usr/assay-test", O_CREAT | O_WRONLY, 0600) >= 0 ? 31 : 0;
    });
  }
}
