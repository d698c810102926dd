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
  Environment environment;        // all of it
  std::vector<int> inherit;       // descriptors that the child keeps, with the same numbers
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
  /// Sends SIGKILL. Does nothing if the process is dead.
  void kill();
  /// Kills its process group as well, if it leads one.
  void kill_group();
  /// Waits for its end. Nothing if the deadline passed or a stop was requested first.
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
  std::function<void()> task_ ASSAY_GUARDED_BY(mutex_);  // of one caller; others wait
  bool stop_ ASSAY_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

/// Sends SIGKILL to the process of a pidfd. Does nothing if it is dead.
void kill_by_pidfd(int pidfd);
/// "killed by SIGSEGV", "exit status 3".
std::string describe(const ExitStatus& status);
/// "SIGSEGV"; "signal 99" for one without a name.
std::string signal_name(int signal);
/// The last `bytes` of a log file, for an error message; empty when there is none.
std::string tail_of(const std::string& log, std::size_t bytes = 2'000);
/// The variables of this process's environment that trusted Python processes get: everything but
/// keys and tokens, and with CUDA's device order set to PCI addresses. `extra` overrides or adds
/// variables.
Environment trusted_environment(const Environment& extra = {});

}  // namespace assay::sandbox
