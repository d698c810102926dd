// LauncherClient: one assay-launcher process, which performs launch plans on one GPU: of one graded
// submission, of one run, or of oracles.
//
//   Result<std::unique_ptr<LauncherClient>> launcher = LauncherClient::start(config, spawner, 0,
//   "cuda", deadline); Result<LaunchOutcome> outcome = (*launcher)->launch(request, plan, fds,
//   deadline);
//
// Belongs to one thread. Its end kills the process and waits until it is gone.
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
  /// How many it was asked for.
  int launches() const { return launches_; }
  /// What the nursery knows it by: how many faults of the device came before it.
  int faults_before() const { return faults_before_; }
  void set_faults_before(int faults) { faults_before_ = faults; }
  bool alive() { return process_.alive(); }
  /// How the process ended by itself, once launch() has returned `unavailable` for that.
  const std::optional<ExitStatus>& exit_status() const { return exit_status_; }
  pid_t pid() const { return process_.pid(); }
  ~LauncherClient();
  const std::string& log() const { return log_; }
  /// With what it started, which is what a profiler runs.
  void kill() { process_.kill_group(); }
  /// Errors: resource_exhausted (the deadline passed: it is killed), cancelled (killed),
  /// unavailable (it died; the message says how), corrupt. `stage_next_inputs`, with a request that
  /// says so: puts other inputs in place once everything but the samples is done; its error ends
  /// the launcher and is returned.
  Result<LaunchOutcome> launch(const LaunchRequest& request, const std::string& plan,
                               const std::vector<int>& fds, const Deadline& deadline,
                               const std::function<Status()>& stage_next_inputs = {});
  /// Lets it come to its end and returns what it wrote to standard output and error, the end of it:
  /// a profiler's report. Errors: resource_exhausted.
  Result<std::string> finish(const Deadline& deadline);

 private:
  /// ": " and the last `bytes` of what it said, under a profiler ncu_words; or nothing.
  std::string last_words(std::size_t bytes) const;
  /// Its exit status, when `error` means that it ended.
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
