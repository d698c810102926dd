// Tests the job jail. A forked child enters the jail and tries what a submission might try.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/files.h"
#include "base/unique_fd.h"
#include "sandbox/jail/cgroup.h"
#include "sandbox/jail/jail.h"
#include "sandbox/jail/mounts.h"
#include "sandbox/jail/namespaces.h"
#include "sandbox/jail/seccomp.h"
#include "tests/catch.h"
#include "tests/sandbox/jail/attempts.h"
#include "tests/sanitized.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

namespace {

/// Runs `attempt` in a child inside a job jail and returns the child's exit status. `prepare` runs
/// in a separate mount namespace before the child enters the jail.
template <class Attempt>
int in_job_jail(
    Attempt attempt, JobJail config = {},
    const std::function<bool()>& prepare = [] { return true; }) {
  config.strict = false;
  const pid_t child = ::fork();
  if (child == 0) {
    if (!enter_user_namespace(8) || !enter_mount_namespace() || !make_child_pid_namespace() ||
        !prepare())
      ::_exit(kNoJail);
    const pid_t inner = ::fork();
    if (inner == 0) {
      config.job_fd = ::open("/dev/null", O_RDONLY);
      const auto layers = enter_job_jail(config);
      if (!layers) ::_exit(kNoJail);
      for (const LayerReport& layer : *layers) {
        if (!layer.active && layer.name != "slot_user") ::_exit(kNoJail);
      }
      ::_exit(attempt(config.job_fd));
    }
    ::_exit(status_of(inner));
  }
  return status_of(child);
}

template <class Attempt>
void expect_all_held(Attempt attempt, JobJail config = {}) {
  check_all_held(in_job_jail(attempt, config));
}

}  // namespace

TEST_CASE(
    "system calls that reach out of the jail are denied, and those that Python needs are not") {
  expect_all_held([](int) {
    if (!denied(::ptrace(PTRACE_TRACEME, 0, 0, 0))) return 1;
    if (!denied(::unshare(CLONE_NEWUSER))) return 2;
    if (!denied(::mount("none", "/tmp", "tmpfs", 0, nullptr))) return 3;
    if (!denied(::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0))) return 4;
    if (!denied(::syscall(435 /* clone3 */, nullptr, 0), ENOSYS)) return 5;
    if (!denied(::syscall(SYS_bpf, 0, 0, 0))) return 6;
    if (!denied(::syscall(425 /* io_uring_setup */, 1, nullptr))) return 7;
    if (!denied(::syscall(SYS_keyctl, 0, 0, 0, 0, 0))) return 8;
    if (!denied(::prctl(PR_SET_DUMPABLE, 1))) return 9;
    if (!denied(::prctl(PR_SET_SECCOMP, 1))) return 10;
    if (!denied(::prctl(67 /* PR_SET_MEMORY_MERGE */, 1, 0, 0, 0))) return 19;
    void* page = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || !denied(::madvise(page, 4096, MADV_MERGEABLE))) return 20;
    if (::madvise(page, 4096, MADV_DONTNEED) != 0) return 21;
    if (!denied(::syscall(SYS_execveat, 0, "", nullptr, nullptr, AT_EMPTY_PATH))) return 11;
    if (!denied(::socket(AF_INET6, SOCK_STREAM, 0), EAFNOSUPPORT)) return 12;
    if (!denied(::socket(AF_NETLINK, SOCK_RAW, 0), EAFNOSUPPORT)) return 13;
    if (!denied(::syscall(SYS_personality, 0x0040000))) return 14;
    if (!denied(::syscall(SYS_process_vm_readv, 1, nullptr, 0, nullptr, 0, 0))) return 15;
    if (::socket(AF_UNIX, SOCK_STREAM, 0) < 0) return 16;
    if (::memfd_create("x", 0) < 0) return 17;
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl("/bin/true", "true", nullptr);
      ::_exit(1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status == 0 ? 0 : 18;
  });
}

TEST_CASE("no capability, no privilege to gain, no core, and only the job's descriptors") {
  expect_all_held([](int job_fd) {
    for (int capability = 0; capability < 40; ++capability) {
      if (::prctl(PR_CAPBSET_READ, capability) == 1) return 1;
    }
    if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return 2;
    if (::prctl(PR_GET_DUMPABLE) != 0) return 3;
    if (::prctl(PR_GET_SECCOMP) != 2) return 4;
    int signal = 0;
    ::prctl(PR_GET_PDEATHSIG, &signal);
    if (signal != SIGKILL) return 5;
    for (int fd = 3; fd < 64; ++fd) {
      if ((::fcntl(fd, F_GETFD) >= 0) != (fd == job_fd)) return 6;
    }
    if (::getpid() != 1 || ::getsid(0) != ::getpid()) return 7;
    return ::setuid(0) == 0 && ::geteuid() == 0 && ::mkdir("/usr/assay-test", 0755) == 0 ? 8 : 0;
  });
}

TEST_CASE("temporary folders are fresh, writable and bounded in size and in files") {
  JobJail config;
  config.tmp_bytes = 1 << 20;
  config.tmp_inodes = 16;
  expect_all_held(
      [](int) {
        UniqueFd file(::open("/tmp/big", O_CREAT | O_WRONLY, 0600));
        if (!file) return 1;
        const std::string block(4096, 'x');
        long written = 0;
        while (::write(file.get(), block.data(), block.size()) > 0) written += 4096;
        if (errno != ENOSPC || written > (1 << 20)) return 2;
        int files = 0;
        while (UniqueFd(
            ::open(("/dev/shm/" + std::to_string(files)).c_str(), O_CREAT | O_WRONLY, 0600)))
          ++files;
        return errno == ENOSPC && files < 16 ? 0 : 3;
      },
      config);
}

TEST_CASE(
    "a folder that is shown below /tmp stays visible in the new /tmp, and nothing beside it") {
  if (in_job_jail([](int) { return 0; }) == kNoJail) {
    WARN("this jail cannot be built on this machine");
    return;
  }
  std::string folder = "/tmp/assay job jail-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  std::filesystem::permissions(folder, std::filesystem::perms(0755));
  const std::string shown = folder + "/shown here", beside = folder + "/beside";
  for (const std::string& one : {shown, beside}) std::filesystem::create_directory(one);
  std::ofstream(shown + "/file") << "seen";
  const auto show = [&] { return bind_read_only(shown, shown, false).has_value(); };
  const auto look = [&](int) {
    if (::access((shown + "/file").c_str(), R_OK) != 0) return 1;
    if (::access(beside.c_str(), F_OK) == 0) return 2;
    return denied(::open((shown + "/new").c_str(), O_CREAT | O_WRONLY, 0600), EROFS) ? 0 : 3;
  };
  CHECK(in_job_jail(look, {}, show) == 0);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a process that is nicer than it must be stays so, and the jail is complete") {
  JobJail config;
  config.limits.niceness = 6;
  const auto as_nice_as = [&](int niceness) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (niceness > 0 && ::setpriority(PRIO_PROCESS, 0, niceness) != 0) ::_exit(1);
      ::_exit(in_job_jail([](int) { return ::getpriority(PRIO_PROCESS, 0); }, config));
    }
    return status_of(child);
  };
  if (::getpriority(PRIO_PROCESS, 0) != 0 || as_nice_as(0) == kNoJail) {
    WARN("no jail can be built here, or this test has a niceness itself");
    return;
  }
  CHECK(as_nice_as(0) == 6);
  CHECK(as_nice_as(15) == 15);
}

TEST_CASE("resource limits are set and cannot be raised") {
  JobJail config;
  config.limits.open_files = 32;
  config.limits.niceness = 10;
  // A build with a sanitizer has no limit here, because a sanitizer needs more memory than this
  // limit and would end the process.
  constexpr std::int64_t kDataBytes = test::kSanitized ? 0 : 256 << 20;
  config.limits.data_bytes = kDataBytes;
  expect_all_held(
      [](int) {
        rlimit limit{};
        ::getrlimit(RLIMIT_NOFILE, &limit);
        if (limit.rlim_max != 32) return 1;
        limit.rlim_max = limit.rlim_cur = 1024;
        if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) return 2;
        ::getrlimit(RLIMIT_CORE, &limit);
        if (limit.rlim_max != 0) return 3;
        ::getrlimit(RLIMIT_AS, &limit);
        if (limit.rlim_cur != RLIM_INFINITY) return 4;
        if (::getpriority(PRIO_PROCESS, 0) != 10 || ::setpriority(PRIO_PROCESS, 0, 0) == 0)
          return 6;
        if (kDataBytes == 0) return 0;
        return ::mmap(nullptr, 1UL << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                      0) == MAP_FAILED
                   ? 0
                   : 5;
      },
      config);
}

TEST_CASE("a system call of another architecture ends the process with SIGSYS") {
#if defined(__x86_64__)
  const int result = in_job_jail([](int) {
    long ignored = 20;  // 20 is the number of getpid in the 32-bit interface
    __asm__ volatile("int $0x80" : "+a"(ignored) : : "memory", "r8", "r9", "r10", "r11");
    return 1;
  });
  if (result != kNoJail) CHECK(result == 128 + SIGSYS);
#endif
}

TEST_CASE("a cgroup limits and counts and is removed, or there is a reason why there is none") {
  LayerList layers(false);
  const std::string name = "assay-" + std::to_string(::getpid()) + "-test";
  Cgroup group =
      Cgroup::create(name, {.memory_bytes = 64 << 20, .processes = 8, .cpu_percent = 400}, layers);
  REQUIRE(layers.layers().size() == 3);
  if (!group.limits_memory() || !group.limits_processes()) {
    for (const LayerReport& layer : layers.layers()) WARN(layer.name << ": " << layer.detail);
    CHECK((!layers.layers()[0].detail.empty() || !layers.layers()[1].detail.empty()));
    return;
  }
  int go[2];
  REQUIRE(::pipe(go) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char ignored = 0;
    if (::read(go[0], &ignored, 1) != 1) ::_exit(1);
    for (;;) {
      char* block = static_cast<char*>(std::malloc(1 << 20));
      if (block == nullptr) ::_exit(2);
      for (int i = 0; i < (1 << 20); i += 4096) block[i] = 1;
    }
  }
  REQUIRE(group.add(child));
  CHECK_FALSE(group.out_of_memory());
  REQUIRE(::write(go[1], "x", 1) == 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(group.out_of_memory());
  CHECK_FALSE(group.machine_out_of_memory());  // the group reached its own limit
  CHECK_FALSE(group.out_of_processes());
}

TEST_CASE("a group whose process has not ended is removed when the next group is created") {
  const Result<CgroupPlace> place = find_cgroup_place("pids");
  if (!place) {
    WARN(place.error().message);
    return;
  }
  const std::string name = "assay-" + std::to_string(::getpid()) + "-busy";
  const CgroupLimits limits{.memory_bytes = 64 << 20, .processes = 8, .cpu_percent = 400};
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  LayerList layers(false);
  {
    Cgroup group = Cgroup::create(name, limits, layers);
    REQUIRE(group.add(child));
  }
  CHECK(std::filesystem::exists(place->folder + "/" + name));
  REQUIRE(::kill(child, SIGKILL) == 0);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  const Cgroup next = Cgroup::create(name + "-next", limits, layers);
  CHECK_FALSE(std::filesystem::exists(place->folder + "/" + name));
}

TEST_CASE("a cgroup limits the processor time of a job") {
  LayerList layers(false);
  constexpr int kPercent = 20;
  Cgroup group = Cgroup::create(
      "assay-" + std::to_string(::getpid()) + "-cpu",
      {.memory_bytes = 64 << 20, .processes = 8, .cpu_percent = kPercent, .yields = true}, layers);
  const LayerReport& cpu = layers.layers().back();
  REQUIRE(cpu.name == "cgroup_cpu");
  if (!cpu.active) {
    WARN(cpu.detail);
    return;
  }
  int go[2];
  REQUIRE(::pipe(go) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char ignored = 0;
    if (::read(go[0], &ignored, 1) != 1) ::_exit(1);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (std::chrono::steady_clock::now() < end) continue;
    ::_exit(0);
  }
  REQUIRE(group.add(child));
  REQUIRE(::write(go[1], "x", 1) == 1);
  rusage used{};
  REQUIRE(::wait4(child, nullptr, 0, &used) == child);
  const double seconds = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  CHECK(seconds < 0.5);
  const Result<CgroupPlace> place = find_cgroup_place("cpu");
  REQUIRE(place);
  const std::string folder = place->folder + "/assay-" + std::to_string(::getpid()) + "-cpu/";
  const std::string weight = folder + (place->version2 ? "cpu.weight" : "cpu.shares");
  CHECK(std::stoi(read_small_file(weight)) == (place->version2 ? 25 : 256));
  REQUIRE(group.hurry_end());
  CHECK(std::stoi(read_small_file(weight)) == (place->version2 ? 10'000 : 262'144));
  const std::string limit =
      read_small_file(folder + (place->version2 ? "cpu.max" : "cpu.cfs_quota_us"));
  CHECK(limit.substr(0, 2) == (place->version2 ? "ma" : "-1"));
}

TEST_CASE("a cgroup counts the time of children that ended without being waited for") {
  LayerList layers(false);
  Cgroup group =
      Cgroup::create("assay-" + std::to_string(::getpid()) + "-account",
                     {.memory_bytes = 64 << 20, .processes = 8, .cpu_percent = 100}, layers);
  if (!group.used_cpu_ms()) {
    WARN("no cgroup counts processor time here");
    return;
  }
  int go[2];
  REQUIRE(::pipe(go) == 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    char ignored = 0;
    if (::read(go[0], &ignored, 1) != 1) ::_exit(1);
    ::signal(SIGCHLD, SIG_IGN);  // now the kernel reaps children and forgets their time
    if (::fork() == 0) {
      const std::clock_t start = std::clock();
      while (std::clock() - start < CLOCKS_PER_SEC / 5) continue;
      ::_exit(0);
    }
    ::wait(nullptr);  // returns when the child has ended
    ::_exit(std::clock() < CLOCKS_PER_SEC / 10 ? 0 : 2);
  }
  REQUIRE(group.add(parent));
  REQUIRE(::write(go[1], "x", 1) == 1);
  rusage used{};
  int status = -1;
  REQUIRE(::wait4(parent, &status, 0, &used) == parent);
  REQUIRE(status == 0);
  CHECK(used.ru_utime.tv_sec == 0);
  CHECK(used.ru_utime.tv_usec < 100'000);  // the child's time is not in it
  CHECK(group.used_cpu_ms().value() >= 200);
}
