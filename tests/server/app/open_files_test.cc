#include "server/app/open_files.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/catch.h"

using namespace assay::server;

namespace {

/// Runs `check` in a child process with these limits of open files, because a hard limit cannot be
/// raised again. Returns whether it returned true.
bool with_limits(rlim_t soft, rlim_t hard, bool (*check)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limits{soft, hard};
    ::_exit(::setrlimit(RLIMIT_NOFILE, &limits) == 0 && check() ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("each job that can run at once needs open files") {
  CHECK(needed_open_files({2}) > needed_open_files({1}));
  CHECK(needed_open_files({2, 6}) - needed_open_files({2}) ==
        needed_open_files({6}) - needed_open_files({}));
  CHECK(needed_open_files({1}) > 64);
}

TEST_CASE("the soft limit is raised to what is needed, and only within the hard limit") {
  CHECK(with_limits(32, 4'096, [] {
    const OpenFiles files = open_files_for({2});
    return files.allowed == files.needed;
  }));
  CHECK(with_limits(2'048, 4'096, [] { return open_files_for({2}).allowed == 2'048; }));
  CHECK(with_limits(32, 64, [] {
    const OpenFiles files = open_files_for({2});
    return files.allowed == 64 && files.needed > 64;
  }));
}

TEST_CASE("the text names the limit and what is needed") {
  const std::string text = text_of({.needed = 128, .allowed = 64});
  CHECK(text.find("needs 128 open files") != std::string::npos);
  CHECK(text.find("the limit is 64") != std::string::npos);
  CHECK(text.find("LimitNOFILE=") != std::string::npos);
}
