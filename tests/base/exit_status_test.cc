// Tests the description of a child process that has ended.
#include "base/exit_status.h"

#include <sys/wait.h>
#include <unistd.h>

#include "tests/catch.h"

namespace assay {
namespace {

ExitStatus status_of(void (*child)()) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    child();
    ::_exit(0);
  }
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED) == 0);
  return exit_status_of(info);
}

}  // namespace

TEST_CASE("exit status: names the exit status or the signal of a child") {
  CHECK(describe(status_of([] { ::_exit(3); })) == "exit status 3");
  const ExitStatus killed = status_of([] { ::raise(SIGKILL); });
  CHECK(killed.by_signal());
  CHECK(killed.value == SIGKILL);
  CHECK(describe(killed) == "killed by SIGKILL");
  CHECK(signal_name(99) == "signal 99");
}

}  // namespace assay
