#include "sandbox/launcher/process/tool.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

namespace assay::sandbox {
namespace {

constexpr int kSignalled = 128;

}  // namespace

std::string parent_folder(const std::string& path) {
  return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}

Status become_tool(std::vector<std::string> command, const std::string& launcher) {
  const std::string name = command.front().substr(command.front().rfind('/') + 1);
  // Checks that the tool can start the launcher, and reports the reason if it cannot. The tool's
  // own message does not contain the reason. The access can fail, because this process already runs
  // with a user id that owns nothing.
  if (::access(launcher.c_str(), X_OK) != 0)
    return fail_errno("in the jail of " + name + ", access " + launcher);
  // The tools write files below HOME and TMPDIR. In the jail, /tmp is a writable folder.
  for (const char* variable : {"HOME", "TMPDIR"}) {
    if (::setenv(variable, "/tmp", 1) != 0) return fail_errno("setenv");
  }
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  return fail_errno("execv " + command.front());
}

Result<std::int64_t> wait_for_tool(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return fail_errno("waitpid");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

}  // namespace assay::sandbox
