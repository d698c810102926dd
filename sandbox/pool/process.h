// A Process is a child process of the supervisor. A pidfd identifies it. Spawner starts processes.
//
//   Spawner spawner;  // owns the thread that forks every child
//   Result<Process> child = spawner.spawn(
//       {.argv = {python, "-I", main}, .environment = {}, .inherit = {socket}, .log = path});
//   child->kill();
//   std::optional<ExitStatus> status = child->wait(Deadline::after_ms(1'000));
//
// The destructor of a Process kills the process and reaps it. When a thread ends, the kernel kills
// the child processes that this thread forked (PR_SET_PDEATHSIG). So one thread forks all children,
// and this thread lives as long as the Spawner. Spawner::spawn is thread-safe; a Process belongs to
// one thread at a time.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/pool/messages.h"
#include "sandbox/wire/deadline.h"

namespace assay::sandbox {

using Environment = std::vector<std::pair<std::string, std::string>>;  // names and values

struct SpawnRequest {
  std::vector<std::string> argv;  // argv[0] is the program's path
  Environment environment;        // all variables that the child gets
  std::vector<int> inherit;       // descriptors that the child inherits, under the same numbers
  std::string log;                // the file for stdout and stderr; it is truncated at the start
  int output = -1;                // the descriptor for stdout; with -1, stdout goes to the log
  int input = -1;                 // the descriptor for stdin; with -1, stdin is empty
  // The child begins a session, so it has no terminal. When the child has ended, all processes of
  // its group get SIGTERM: those that it started, unless they began groups of their own.
  bool own_session = false;
};

class Process {
 public:
  Process() = default;
  Process(pid_t pid, UniqueFd pidfd, bool ends_group = false)
      : pid_(pid), pidfd_(std::move(pidfd)), ends_group_(ends_group) {}
  Process(Process&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        pidfd_(std::move(other.pidfd_)),
        ends_group_(other.ends_group_),
        status_(other.status_) {}
  Process& operator=(Process&& other) noexcept;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { end(); }

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }
  /// Sends SIGKILL. Does nothing if the process has already ended.
  void kill();
  /// Sends SIGKILL to the process. If it leads a process group, sends SIGKILL to the whole group.
  void kill_group();
  /// Waits until the process has ended. Returns nothing if the deadline passes or a stop is
  /// requested first.
  std::optional<ExitStatus> wait(const Deadline& deadline);
  bool alive() { return pid_ > 0 && !wait(Deadline::after_ms(0)); }

 private:
  void end();

  pid_t pid_ = -1;
  UniqueFd pidfd_;
  bool ends_group_ = false;  // SpawnRequest::own_session
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

  Mutex mutex_;
  Condition changed_;
  // The function that the thread has to run, for one caller at a time.
  std::function<void()> task_ ASSAY_GUARDED_BY(mutex_);
  bool stop_ ASSAY_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

/// Sends SIGKILL to the process of a pidfd. Does nothing if the process has already ended.
void kill_by_pidfd(int pidfd);
/// Returns the last `bytes` of a log file, for an error message. Returns an empty string if there
/// is no file.
std::string tail_of(const std::string& log, std::size_t bytes = 2'000);
/// Returns the environment variables for a trusted Python process. They are the variables of this
/// process, without keys and tokens, and CUDA's device order is set to PCI addresses. `extra` adds
/// variables or replaces their values.
Environment trusted_environment(const Environment& extra = {});

}  // namespace assay::sandbox
