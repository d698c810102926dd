// LauncherClient: one assay-launcher process, which performs launch plans on one GPU. The plans are
// those of one graded submission, of one run, or of references (LauncherPool).
//
//   Result<std::unique_ptr<LauncherClient>> launcher =
//       LauncherClient::start(config, spawner, {.device = 0, .driver = "cuda"}, deadline);
//   Result<LaunchOutcome> outcome = (*launcher)->launch(request, plan, fds, deadline);
//
// Belongs to one thread. The destructor kills the process and waits for its end.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/pool/process.h"
#include "sandbox/wire/launch_reply.h"
#include "sandbox/wire/launch_request.h"

namespace assay::sandbox {

using LaunchOutcome = std::variant<Launched, LaunchFailure>;

/// The device that a launcher drives.
struct LauncherOptions {
  int device = 0;
  std::string driver = "cuda";  // or "fake" for tests
  std::string ncu = {};         // path of the profiler that starts the launcher, or empty
};

class LauncherClient {
 public:
  LauncherClient();
  LauncherClient(const LauncherClient&) = delete;
  LauncherClient& operator=(const LauncherClient&) = delete;
  /// Starts a launcher and waits until its device is ready.
  static Result<std::unique_ptr<LauncherClient>> start(const SandboxConfig& config,
                                                       Spawner& spawner,
                                                       const LauncherOptions& options,
                                                       const Deadline& deadline);

  /// What the launcher reported when it became ready.
  const LauncherReady& ready() const { return ready_; }
  /// The number of calls of launch().
  int launches() const { return launches_; }
  /// The number of device faults before its start. LauncherPool sets it.
  int faults_before() const { return faults_before_; }
  void set_faults_before(int faults) { faults_before_ = faults; }
  bool alive() { return process_.alive(); }
  /// Tells how the process ended by itself, after launch() has returned `unavailable`.
  const std::optional<ExitStatus>& exit_status() const { return exit_status_; }
  pid_t pid() const { return process_.pid(); }
  ~LauncherClient();
  const std::string& log() const { return log_; }
  /// Kills the process and its children. A profiler has the launcher as a child.
  void kill() { process_.kill_group(); }
  /// Performs a plan. If the request has `stage_next_inputs`, it calls the function of that name
  /// before the samples, which puts other inputs in place; an error of the function kills the
  /// launcher and is returned. Errors: resource_exhausted (the deadline passed) and cancelled,
  /// which kill the launcher; unavailable (it ended; the message tells how), corrupt.
  Result<LaunchOutcome> launch(const LaunchRequest& request, const std::string& plan,
                               const std::vector<int>& fds, const Deadline& deadline,
                               const std::function<Status()>& stage_next_inputs = {});
  /// Waits until it ends by itself and returns the tail of its log, which holds a profiler's
  /// report. Errors: resource_exhausted, cancelled.
  Result<std::string> finish(const Deadline& deadline);

 private:
  /// Returns ": " and the last `bytes` of its log, or with a profiler the ncu_messages() of its
  /// log. The result is empty if the log is.
  std::string end_of_log(std::size_t bytes) const;
  /// Describes its exit status if `error` means that it ended. Otherwise returns the error's
  /// message.
  std::string how_it_ended(const Error& error);

  Process process_;
  std::optional<ExitStatus> exit_status_;
  UniqueFd socket_;
  LauncherReady ready_;
  int launches_ = 0, faults_before_ = 0;
  const unsigned log_number_;
  std::string log_;
  bool profiled_ = false;
};

inline constexpr std::size_t kNcuMessagesBytes = 1'500;

/// Extracts what Nsight Compute printed besides its report, for an error message. On a remote
/// machine nothing else tells the reason of a failure. Returns one line of at most
/// kNcuMessagesBytes: the lines of `log`, joined by " | ". Errors of ncu and of the launcher come
/// first, then the other lines in their order. It leaves out the lines of the report (CSV). The
/// text may have any content.
std::string ncu_messages(std::string_view log);

}  // namespace assay::sandbox
