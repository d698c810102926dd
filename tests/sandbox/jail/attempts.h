// Helps tests in which a forked child enters a jail and tries something there (an attempt). The
// child's exit status is 0 if every expectation was met. Otherwise it is the number of the first
// expectation that was not met, or kNoJail.
//
//   const pid_t child = ::fork();
//   if (child == 0) ::_exit(enter() ? attempt() : kNoJail);
//   check_all_held(status_of(child));
#pragma once

#include <sys/types.h>
#include <sys/wait.h>

#include <cerrno>

#include "tests/catch.h"

namespace assay::sandbox::testing {

/// The exit status of a child that could not build its jail on this machine.
inline constexpr int kNoJail = 99;

/// Waits for the child and returns its exit status, or 128 + the signal that ended it.
inline int status_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Checks the exit status of an attempt. Prints a warning if the jail could not be built.
inline void check_all_held(int status) {
  if (status == kNoJail) {
    WARN("this jail cannot be built on this machine");
    return;
  }
  INFO("expectation number " << status << " did not hold");
  CHECK(status == 0);
}

/// Returns true if `result` is that of a system call which has failed with the error `with`.
inline bool denied(long result, int with = EPERM) { return result == -1 && errno == with; }

}  // namespace assay::sandbox::testing
