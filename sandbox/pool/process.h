// Process: a program that the supervisor started, held by a pidfd; and how it is started.
//
//   Spawner spawner;                                              // one thread, which all children
//   are born of Result<Process> judge = spawner.spawn({.argv = {python, "-I", main}, .inherit =
//   {socket}, .log = path}); judge->kill();  judge->wait(Deadline::after_ms(1'000));       // the
//   status, or nothing yet
//
// A Process is killed and reaped when destroyed. Children ask for SIGKILL at their parent thread's
// death, which is why one thread that lives as long as the Spawner starts them all. Spawner::spawn
// is thread-safe; a Process belongs to one thread at a time.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/pool/messages.h"
#include "sandbox/wire/deadline.h"

namespace assay::sandbox {

using Environment = std::vector<std::pair<std::string, std::string>>;  // names and values

struct SpawnRequest {
  std::vector<std::string> argv;  // argv[0] is the program's path
  Environment environment;        // all of it
  std::vector<int> inherit;       // descriptors that stay open, under the same numbers
  std::string log;                // file for stdout and stderr, truncated at start
};

class Process {
 public:
  Process() = default;
  Process(pid_t pid, UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  Process(Process&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        pidfd_(std::move(other.pidfd_)),
        status_(other.status_) {}
  Process& operator=(Process&& other) noexcept;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { end(); }

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }
  /// SIGKILL. Harmless when it is dead.
  void kill();
  /// The same for it and what it started, where it leads a process group.
  void kill_group();
  /// Its end, from waitid, once it has come; nothing when the deadline passed first.
  std::optional<ExitStatus> wait(const Deadline& deadline);
  bool alive() { return pid_ > 0 && !wait(Deadline::after_ms(0)); }

 private:
  void end();

  pid_t pid_ = -1;
  UniqueFd pidfd_;
  std::optional<ExitStatus> status_;
};

class Spawner {
 public:
  Spawner();
  ~Spawner();
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;

  Result<Process> spawn(const SpawnRequest& request);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> task_;
  bool stop_ = false;
  std::thread thread_;
};

/// "killed by SIGSEGV", "exit status 3".
std::string describe(const ExitStatus& status);
/// "SIGSEGV"; "signal 99" for one without a name.
std::string signal_name(int signal);
/// The last `bytes` of a log file, for an error message; empty when there is none.
std::string tail_of(const std::string& log, std::size_t bytes = 2'000);
/// The variables of this process's environment that trusted Python processes get: everything but
/// keys and tokens, and CUDA told to count GPUs by their PCI addresses. `other`: what they get
/// instead of what is there, or besides.
Environment trusted_environment(const Environment& other = {});

}  // namespace assay::sandbox
