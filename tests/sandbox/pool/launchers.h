// Takes launchers from a pool, and counts how many launchers a pool starts.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "base/text.h"
#include "sandbox/pool/launcher_pool.h"
#include "sandbox/wire/deadline.h"
#include "tests/catch.h"
#include "tests/sandbox/device/device_fixture.h"

namespace assay::sandbox::testing {

inline Deadline soon() { return Deadline::after_ms(60'000); }

inline std::unique_ptr<LauncherClient> taken(LauncherPool& pool) {
  Result<std::unique_ptr<LauncherClient>> launcher = pool.take(soon());
  REQUIRE(launcher);
  REQUIRE((*launcher)->alive());
  return std::move(*launcher);
}

/// Waits until the process has ended and was waited for. Returns false if it takes too long.
inline bool is_reaped(pid_t pid) {
  const Deadline deadline = soon();
  while (::kill(pid, 0) == 0 && !deadline.over()) ::usleep(1'000);
  return ::kill(pid, 0) != 0;
}

/// A launcher program that reports each of its starts through a named pipe. The first `ready`
/// starts become launchers. Later starts run the shell command `later`, which is never ready.
class StartLog {
 public:
  StartLog(const std::string& name, int ready, const std::string& later = "exec sleep 60")
      : config_(real_config()) {
    const std::filesystem::path folder = std::filesystem::path(config_.state_dir) / name;
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const std::string pipe = folder / "pipe", script = folder / "launcher.sh";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    pipe_ = UniqueFd(::open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    REQUIRE(pipe_);
    std::ofstream(script) << "#!/bin/sh\ni=1\nwhile ! mkdir " << shell_word(folder.string())
                          << "/$i 2>/dev/null; do i=$((i+1)); done\nprintf x > " << shell_word(pipe)
                          << "\n[ $i -le " << ready << " ] && exec " << shell_word(config_.launcher)
                          << " \"$@\"\n"
                          << later << "\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    config_.launcher = script;
  }
  const SandboxConfig& config() const { return config_; }
  int count() const {
    char byte = 0;
    while (::read(pipe_.get(), &byte, 1) == 1) ++count_;
    return count_;
  }
  /// Waits until the number of starts is `wanted` or more.
  bool comes_to(int wanted) const {
    const Deadline deadline = soon();
    while (count() < wanted && !deadline.over()) {
      std::array<pollfd, 1> entries{{{pipe_.get(), POLLIN, 0}}};
      poll_until(entries, deadline);
    }
    return count_ == wanted;
  }

 private:
  SandboxConfig config_;
  UniqueFd pipe_;
  mutable int count_ = 0;
};

}  // namespace assay::sandbox::testing
