// Attempts: what a test tries in a forked child inside a jail. The child's exit status is 0 if
// every expectation held, the number of the first that did not, or kNoJail.
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

/// The exit status of a child that could not build the jail on this machine.
inline constexpr int kNoJail = 99;

/// Waits for the child and returns its exit status, or 128 + the signal that ended it.
inline int status_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Checks the exit status of an attempt. Warns if there was no jail.
inline void check_all_held(int status) {
  if (status == kNoJail) {
    WARN("this jail cannot be built on this machine");
    return;
  }
  INFO("expectation number " << status << " did not hold");
  CHECK(status == 0);
}

/// Tells whether a system call has failed with the error `with`.
inline bool denied(long result, int with = EPERM) { return result == -1 && errno == with; }

}  // namespace assay::sandbox::testing
