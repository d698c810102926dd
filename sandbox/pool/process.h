// Process is a program that the supervisor started, held by a pidfd. Spawner starts it.
//
//   Spawner spawner;  // has the thread that forks every child
//   Result<Process> child = spawner.spawn(
//       {.argv = {python, "-I", main}, .environment = {}, .inherit = {socket}, .log = path});
//   child->kill();
//   std::optional<ExitStatus> status = child->wait(Deadline::after_ms(1'000));
//
// The destructor of a Process kills and reaps it. The kernel kills a child when the thread that
// forked it ends (PR_SET_PDEATHSIG), so one thread forks all of them and lives as long as the
// Spawner. Spawner::spawn is thread-safe; a Process belongs to one thread at a time.
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
  std::vector<int> inherit;       // descriptors that the child keeps, with the same numbers
  std::string log;                // the file for stdout and stderr; it is truncated at the start
  int output = -1;                // the descriptor for stdout instead of the log; -1: the log
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
  /// Sends SIGKILL. Does nothing if the process is dead.
  void kill();
  /// Kills its process group as well, if it leads one.
  void kill_group();
  /// Waits for its end. Returns nothing if the deadline passes or a stop is requested first.
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

  Mutex mutex_;
  Condition changed_;
  std::function<void()> task_ ASSAY_GUARDED_BY(mutex_);  // of one caller at a time
  bool stop_ ASSAY_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

/// Sends SIGKILL to the process of a pidfd. Does nothing if it is dead.
void kill_by_pidfd(int pidfd);
/// Returns for example "killed by SIGSEGV" or "exit status 3".
std::string describe(const ExitStatus& status);
/// Returns for example "SIGSEGV", or "signal 99" for a signal without a name.
std::string signal_name(int signal);
/// Returns the last `bytes` of a log file, for an error message, or an empty string without a file.
std::string tail_of(const std::string& log, std::size_t bytes = 2'000);
/// Returns the variables that a trusted Python process gets from this process's environment:
/// everything but keys and tokens, with CUDA's device order set to PCI addresses. `extra` overrides
/// or adds variables.
Environment trusted_environment(const Environment& extra = {});

}  // namespace assay::sandbox
