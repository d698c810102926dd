#include "sandbox/pool/process_facts.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

TEST_CASE("the processor times of a process are read, whatever its name is") {
  const std::string stat =
      "7 (a) R 1) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 20 30 20 0 1 0 12345 0 0";
  const std::optional<CpuTimes> times = parse_cpu_times(stat, "3000000000 1500000000 9\n", 100);
  REQUIRE(times);
  CHECK(times->used_ms == 3'500);
  CHECK(times->waited_ms == 1'500);
  CHECK_FALSE(parse_cpu_times(stat, "", 100));  // a kernel without these times
  CHECK_FALSE(parse_cpu_times("7 (python) S 1 7", "1 2 3", 100));
  CHECK_FALSE(parse_cpu_times("", "1 2 3", 100));
}

TEST_CASE("a process that works uses processor time") {
  const std::optional<CpuTimes> before = cpu_times(::getpid());
  REQUIRE(before);
  const std::int64_t used_ms = before->used_ms;
  while (cpu_times(::getpid())->used_ms <= used_ms) continue;
  CHECK(cpu_times(::getpid())->used_ms > used_ms);
  CHECK_FALSE(cpu_times(-1));
}

TEST_CASE("a process that has ended and was not reaped is ending; a running one is not") {
  CHECK_FALSE(is_ending(::getpid()));
  CHECK_FALSE(is_ending(-1));
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(0);
  siginfo_t ended{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
  CHECK(is_ending(child));
  REQUIRE(::waitpid(child, nullptr, 0) == child);
}
