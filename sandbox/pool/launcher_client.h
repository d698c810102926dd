// LauncherClient: one assay-launcher process, which performs launch plans on one GPU. The plans are
// those of one graded submission, of one run, or of references (LauncherPool).
//
//   Result<std::unique_ptr<LauncherClient>> launcher =
//       LauncherClient::start(config, spawner, 0, "cuda", deadline);
//   Result<LaunchOutcome> outcome = (*launcher)->launch(request, plan, fds, deadline);
//
// Belongs to one thread. The destructor kills the process and waits for its end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/pool/messages.h"
#include "sandbox/pool/process.h"

namespace assay::sandbox {

using LaunchOutcome = std::variant<Launched, LaunchFailure>;

class LauncherClient {
 public:
  LauncherClient();
  LauncherClient(const LauncherClient&) = delete;
  LauncherClient& operator=(const LauncherClient&) = delete;
  /// Starts one and waits until its device is ready. `driver`: "cuda", or "fake" for tests. `ncu`:
  /// the profiler to run it in, or empty.
  static Result<std::unique_ptr<LauncherClient>> start(const SandboxConfig& config,
                                                       Spawner& spawner, int device,
                                                       const std::string& driver,
                                                       const Deadline& deadline,
                                                       const std::string& ncu = "");

  const LauncherDevice& device() const { return device_; }
  /// The number of calls of launch().
  int launches() const { return launches_; }
  /// The number of device faults before its start. LauncherPool sets it.
  int faults_before() const { return faults_before_; }
  void set_faults_before(int faults) { faults_before_ = faults; }
  bool alive() { return process_.alive(); }
  /// How the process ended by itself, once launch() has returned `unavailable` for that.
  const std::optional<ExitStatus>& exit_status() const { return exit_status_; }
  pid_t pid() const { return process_.pid(); }
  ~LauncherClient();
  const std::string& log() const { return log_; }
  /// Kills the process and those that it started: a profiler starts the launcher.
  void kill() { process_.kill_group(); }
  /// Errors: resource_exhausted (the deadline passed: it is killed), cancelled (killed),
  /// unavailable (it died; the message says how), corrupt. If the request has `stage_next_inputs`,
  /// the function of that name is called before the samples, to put other inputs in place. Its
  /// error ends the launcher and is returned.
  Result<LaunchOutcome> launch(const LaunchRequest& request, const std::string& plan,
                               const std::vector<int>& fds, const Deadline& deadline,
                               const std::function<Status()>& stage_next_inputs = {});
  /// Waits until it ends by itself and returns the tail of its log, which holds a profiler's
  /// report. Errors: resource_exhausted, cancelled.
  Result<std::string> finish(const Deadline& deadline);

 private:
  /// Returns ": " and the last `bytes` of its log, or nothing. With a profiler: its ncu_words().
  std::string last_words(std::size_t bytes) const;
  /// Describes its exit status if `error` means that it ended; else returns the error's message.
  std::string how_it_ended(const Error& error);

  Process process_;
  std::optional<ExitStatus> exit_status_;
  UniqueFd socket_;
  LauncherDevice device_;
  int launches_ = 0, faults_before_ = 0;
  const unsigned log_number_;
  std::string log_;
  bool profiled_ = false;
};

}  // namespace assay::sandbox
