#include "sandbox/pool/process_family.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "tests/catch.h"

using namespace assay::sandbox;

TEST_CASE("the descendants of a process are its children and their children") {
  const std::vector<std::string> stats = {"1 (init) S 0 1", "20 (a) R 1) S 1 20", "21 (b) S 20 20",
                                          "22 (c) S 21 20", "30 (d) S 1 30",      "broken"};
  CHECK(descendants_of(20, stats) == std::vector<pid_t>{21, 22});
  CHECK(descendants_of(1, stats) == std::vector<pid_t>{20, 30, 21, 22});
  CHECK(descendants_of(30, stats).empty());
}

TEST_CASE("the time of a child that works counts for its parent") {
  const pid_t parent = ::fork();
  REQUIRE(parent >= 0);
  if (parent == 0) {
    ::setpgid(0, 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);  // ends the process if the test did not
      for (std::atomic<int> spins = 0;;) ++spins;
    }
    ::alarm(60);
    ::waitpid(child, nullptr, 0);
    ::_exit(0);
  }
  std::optional<CpuTimes> times;
  while ((times = family_cpu_times(parent)) && times->used_ms < 100) continue;
  REQUIRE(times);
  CHECK(times->used_ms >= 100);
  CHECK(cpu_times(parent)->used_ms < 100);  // the parent itself only waits
  // The child is in the parent's process group.
  ::kill(-parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  CHECK_FALSE(family_cpu_times(parent));
}
