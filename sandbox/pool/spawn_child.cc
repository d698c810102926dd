#include "sandbox/pool/spawn_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

namespace assay::sandbox {

void become(const ChildPlan& plan) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != plan.parent) ::_exit(kExecFailed);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::dup2(plan.null_fd, STDIN_FILENO);
  ::dup2(plan.log_fd, STDOUT_FILENO);
  ::dup2(plan.log_fd, STDERR_FILENO);
  for (std::size_t i = 0; i < plan.inherit_count; ++i) ::fcntl(plan.inherit[i], F_SETFD, 0);
  ::execve(plan.argv[0], plan.argv, plan.environment);
  const char* message = errno == ENOENT ? "exec: no such program\n" : "exec failed\n";
  std::size_t size = 0;
  while (message[size] != '\0') ++size;
  if (::write(STDERR_FILENO, message, size) < 0) ::_exit(kExecFailed);
  ::_exit(kExecFailed);
}

}  // namespace assay::sandbox
