// A LauncherClient is one assay-launcher process, which performs launch plans on one GPU. All plans
// of a launcher belong to one graded submission, to one run, or to oracles. LauncherPool decides
// between these three uses.
//
//   Result<std::unique_ptr<LauncherClient>> launcher =
//       LauncherClient::start(config, spawner, {.device = 0, .driver = "cuda"}, deadline);
//   Result<LaunchOutcome> outcome = (*launcher)->launch(request, plan, fds, deadline);
//
// Each client belongs to one thread. The destructor kills the process and waits until it has ended.
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
#include "sandbox/wire/sanitized.h"
#include "sandbox/wire/sanitizer_tool.h"

namespace assay::sandbox {

using LaunchOutcome = std::variant<Launched, LaunchFailure>;

/// A tool of NVIDIA Compute Sanitizer under which a launcher runs.
struct LauncherSanitizer {
  std::string path;  // of compute-sanitizer
  SanitizerTool tool = SanitizerTool::memcheck;
};

/// A pass of AMD's rocprofv3 under which a launcher runs (sandbox/launcher/process/rocprof.h).
struct LauncherRocprof {
  std::string path;  // of rocprofv3
  int pass = 0;
};

/// The device that a launcher drives.
struct LauncherOptions {
  int device = 0;
  std::string driver = "cuda";  // or "fake" for tests
  std::string ncu = {};         // path of the profiler under which the launcher runs, or empty
  std::optional<LauncherRocprof> rocprof = {};
  // The sanitizer under which the launcher runs. Such a launcher is used only for the sanitizer,
  // because it is slow and allocates memory in the way that the tool needs.
  std::optional<LauncherSanitizer> sanitizer = {};
};

class LauncherClient {
 public:
  LauncherClient();
  LauncherClient(const LauncherClient&) = delete;
  LauncherClient& operator=(const LauncherClient&) = delete;
  /// Starts a launcher and waits until the launcher has opened its device.
  static Result<std::unique_ptr<LauncherClient>> start(const SandboxConfig& config,
                                                       Spawner& spawner,
                                                       const LauncherOptions& options,
                                                       const Deadline& deadline);

  /// The message that the launcher sent when it became ready.
  const LauncherReady& ready() const { return ready_; }
  /// The number of calls of launch().
  int launches() const { return launches_; }
  /// The number of device faults that LauncherPool had counted when the launcher last began to
  /// check the device.
  int faults_before() const { return faults_before_; }
  void set_faults_before(int faults) { faults_before_ = faults; }
  bool alive() { return process_.alive(); }
  /// The exit status of a process that was not killed. Valid after launch() has returned
  /// `unavailable`.
  const std::optional<ExitStatus>& exit_status() const { return exit_status_; }
  pid_t pid() const { return process_.pid(); }
  ~LauncherClient();
  const std::string& log() const { return log_; }
  /// Kills the process and its children. Under a profiler or a sanitizer, the launcher that serves
  /// the socket is such a child.
  void kill() { process_.kill_group(); }
  /// Performs a plan. If `request.stage_next_inputs` is true, the client calls the function
  /// `stage_next_inputs` before the timed samples. The function replaces the inputs by other
  /// inputs. The deadline does not count its time, because others decide how long it takes. If the
  /// function fails, the client kills the launcher and returns the function's error.
  /// Other errors: resource_exhausted if the deadline passes; cancelled; unavailable if the
  /// launcher ended, with a message that tells how; corrupt if a reply is malformed. After each of
  /// the first three errors the launcher is killed.
  Result<LaunchOutcome> launch(const LaunchRequest& request, const std::string& plan,
                               const std::vector<int>& fds, const Deadline& deadline,
                               const std::function<Status()>& stage_next_inputs = {});
  /// Makes the launcher give up its access to the device memory of a judge, if it keeps one. Does
  /// not wait. A launcher that cannot be reached is killed.
  void release_memory();
  /// Makes the launcher check that its context and the device still work. After an error, the
  /// launcher is killed. Errors: as of launch().
  Status check(const Deadline& deadline);
  /// Closes the socket, waits until the process exits by itself, and returns the last part of its
  /// log. This part contains a profiler's report. Errors: resource_exhausted; cancelled.
  Result<std::string> finish(const Deadline& deadline);
  /// Ends a launcher that runs under a sanitizer, and returns the sanitizer's report. Errors:
  /// resource_exhausted, cancelled; unavailable if the report does not come.
  Result<Sanitized> finish_sanitized(const Deadline& deadline);
  /// Returns the last `bytes` of the output of the launcher and its tool.
  std::string printed(std::size_t bytes) const;

 private:
  /// Returns ": " and the last `bytes` of the launcher's log. Under a profiler or a sanitizer,
  /// returns ": " and the ncu_messages() of the log instead. Returns an empty string if there is no
  /// such text.
  std::string end_of_log(std::size_t bytes) const;
  /// Describes the launcher's exit status if `error` means that the launcher ended. Otherwise
  /// returns the message of `error`.
  std::string how_it_ended(const Error& error);

  Process process_;
  std::optional<ExitStatus> exit_status_;
  UniqueFd socket_;
  LauncherReady ready_;
  int launches_ = 0, faults_before_ = 0;
  const unsigned log_number_;
  std::string log_;
  bool profiled_ = false;
  bool holds_memory_ = false;
};

inline constexpr std::size_t kNcuMessagesBytes = 1'500;

/// Extracts the messages of Nsight Compute (ncu) from a log, for an error message. On a remote
/// machine only this text tells why a profile failed. Returns one line of at most
/// kNcuMessagesBytes: the lines of `log`, joined by " | ". Errors of ncu and of the launcher come
/// first, and the other lines follow in their order. The lines of the report (CSV) are left out.
/// `log` may contain any text.
std::string ncu_messages(std::string_view log);

}  // namespace assay::sandbox
