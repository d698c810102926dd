// LaunchSession performs the launch plans of cases. If a launch fails in any way, the verdict gets
// an error.
//
//   LaunchSession session(run, launchers);
//   std::optional<Launched> launched =
//       session.launch({prepared, i, plan, output_fd}, {.time = TimedBlock{}});
//   if (!launched) return;  // the verdict of `run` has the error
//
// A session uses one launcher process. The launcher of a grade performs the plans of one submission
// and no other plans. The launcher of a test or a profile is kept for the next job of the same run
// (Job::run). The launcher of an oracle is kept for the next job's oracle. Each session belongs to
// one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/exit_status.h"
#include "sandbox/job/job_execution.h"
#include "sandbox/pool/judge.h"
#include "sandbox/pool/launcher_pool.h"

namespace assay::sandbox {

/// A launch plan and the case that it computes. The caller owns everything that this struct refers
/// to.
struct CasePlan {
  const PreparedJob& prepared;
  std::size_t index = 0;  // index of the case
  const std::string& plan;
  int output_fd = -1;  // file for the outputs; -1 if the outputs go to device memory
};

struct LaunchOptions {
  std::optional<TimedBlock> time = std::nullopt;  // if set, the launcher takes these samples
  /// The alternatives (autotuner configurations) that an earlier launch chose for the plan's
  /// tunables. If the list is empty, a timed launch chooses the alternatives, and an untimed launch
  /// uses the first alternatives.
  std::vector<std::int64_t> chosen = {};
  /// If true, the launcher measures the plan's timeline after the samples and checks whether the
  /// plan is deterministic.
  bool inspect = false;
  /// If false, a timed launch returns no outputs, and does not look for changed inputs.
  bool returns_outputs = true;
  /// A function that launch() calls between warm-up and samples. It replaces the inputs by new
  /// inputs. If the function returns false, it has written the reason into the verdict, and
  /// launch() returns nothing.
  std::function<bool()> stage_next_inputs = {};
};

class LaunchSession {
 public:
  enum class Whose { submission, oracle };
  LaunchSession(JobExecution& run, LauncherPool& launchers, Whose whose = Whose::submission);
  LaunchSession(const LaunchSession&) = delete;
  LaunchSession& operator=(const LaunchSession&) = delete;
  ~LaunchSession() { end(); }

  /// Gets a launcher. Call this function before the job takes the GPU lock. Without this call,
  /// launch() gets the launcher, and the job may hold the lock while the launcher starts. Returns
  /// false if the verdict has become an error.
  bool ready();
  /// Performs a plan. Returns nothing if the verdict has become an error.
  std::optional<Launched> launch(const CasePlan& plan, const LaunchOptions& options = {});
  /// Returns true if the last launch failed because others used the device's memory.
  bool device_was_full() const { return device_was_full_; }
  /// Launches the plan without the submission's kernels. The plan's tunables use the alternatives
  /// `chosen`.
  std::optional<Launched> launch_ablated(const CasePlan& plan, std::vector<std::int64_t> chosen);

 private:
  std::optional<Launched> perform(LaunchRequest request, const CasePlan& plan,
                                  const std::function<bool()>& stage_next_inputs = {});
  Result<std::unique_ptr<LauncherClient>> take(const Deadline& deadline);
  void end();
  std::optional<Launched> failed(const Error& error, const std::string& case_id);
  /// Returns the launch figures of the verdict.
  LaunchFigures& figures();

  JobExecution& run_;
  LauncherPool& launchers_;
  const Whose whose_;
  const std::string kept_for_;  // the run that may reuse the launcher; empty if no run may reuse it
  bool failed_ = false;         // true after a failed launch
  bool device_was_full_ = false;
  std::unique_ptr<LauncherClient> launcher_;
};

/// A request to a launcher, and the descriptors to which the request refers. The caller owns the
/// descriptors.
struct LaunchFiles {
  LaunchRequest request;
  std::vector<int> fds;
};
/// Completes the request `about` for one case. Adds the case's inputs, in memory files or in device
/// memory, and its output file.
LaunchFiles launch_files(LaunchRequest about, const PreparedJob& prepared, std::size_t index,
                         int output_fd, std::int64_t gpu_memory_bytes);

/// Returns the error kind of a verdict whose launch failed with this kind of launch error.
ErrorKind error_kind(LaunchErrorKind kind);

/// Returns true if a launcher with this status ended because its driver crashed. The launcher runs
/// no host code of a submission, so device code or a device image made the driver crash. A launcher
/// that exited, for example because a system call of its own failed, or that something else killed
/// (SIGKILL, SIGTERM), says nothing about the submission.
bool driver_crashed(const ExitStatus& status);

/// The minimum time of a case on a device.
struct Floor {
  double expected_ns = 0;  // time for all traffic at peak rate, or for all arithmetic if longer
  /// The minimum time if traffic that fits into the L2 cache takes no time. No kernel can be faster
  /// than this.
  double possible_ns = 0;
};
/// Returns the minimum time of a case with this cost, or nothing if the device's figures are
/// unknown.
std::optional<Floor> physics_floor(const DeviceFacts& device, double cost_bytes, double cost_flops);

}  // namespace assay::sandbox
