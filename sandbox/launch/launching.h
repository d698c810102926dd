// LaunchSession launches the plans of cases and turns every way in which a launch can end into the
// verdict.
//
//   LaunchSession session(run, launchers);
//   std::optional<Launched> launched =
//       session.launch({prepared, i, plan, output_fd}, {.time = TimedBlock{}});
//   if (!launched) return;  // the verdict of `run` has the error
//
// A session uses one launcher process. The launcher of a grade performs the plans of one submission
// and nothing else. The launcher of a test or a profile is kept for the next job of the same run,
// and the launcher of an oracle for the next oracle. Belongs to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/job/job_execution.h"
#include "sandbox/pool/judge.h"
#include "sandbox/pool/launcher_pool.h"

namespace assay::sandbox {

/// A launch plan and the case that it computes. Borrows everything.
struct CasePlan {
  const PreparedJob& prepared;
  std::size_t index = 0;  // of the case
  const std::string& plan;
  int output_fd = -1;  // file for the outputs; -1 if they go to device memory
};

struct LaunchOptions {
  std::optional<TimedBlock> time = std::nullopt;  // takes these samples
  /// The alternatives that an earlier launch chose for the plan's tunables. If empty, a timed
  /// launch chooses, and any other launch takes the first alternatives.
  std::vector<std::int64_t> chosen = {};
  /// Adds the timeline of the plan and whether it is deterministic, after the samples.
  bool inspect = false;
  /// Puts other inputs in place between warm-up and samples. If it returns false, it has written
  /// the reason into the verdict, and launch() returns nothing.
  std::function<bool()> stage_next_inputs = {};
};

class LaunchSession {
 public:
  enum class Whose { submission, oracle };
  LaunchSession(JobExecution& run, LauncherPool& launchers, Whose whose = Whose::submission);
  LaunchSession(const LaunchSession&) = delete;
  LaunchSession& operator=(const LaunchSession&) = delete;
  ~LaunchSession() { end(); }

  /// Takes a launcher. launch() does so too, but a launcher may have to be started, and no job
  /// should hold a GPU during that time. Returns false when the verdict has become an error.
  bool ready();
  /// Returns nothing when the verdict has become an error.
  std::optional<Launched> launch(const CasePlan& plan, const LaunchOptions& options = {});
  /// Launches the plan without the submission's kernels, with these alternatives of its tunables.
  std::optional<Launched> launch_ablated(const CasePlan& plan, std::vector<std::int64_t> chosen);

 private:
  std::optional<Launched> perform(LaunchRequest request, const CasePlan& plan,
                                  const std::function<bool()>& stage_next_inputs = {});
  Result<std::unique_ptr<LauncherClient>> take(const Deadline& deadline);
  void end();
  std::optional<Launched> failed(const Error& error, const std::string& case_id);

  JobExecution& run_;
  LauncherPool& launchers_;
  const Whose whose_;
  const std::string kept_for_;  // the run that may reuse the launcher; empty for no run
  bool failed_ = false;         // a launch failed
  std::unique_ptr<LauncherClient> launcher_;
};

/// A request to a launcher and the descriptors that it refers to, which are borrowed.
struct LaunchFiles {
  LaunchRequest request;
  std::vector<int> fds;
};
/// Completes the request `about` for one case with its inputs, wherever the judge put them, and its
/// output file.
LaunchFiles launch_files(LaunchRequest about, const PreparedJob& prepared, std::size_t index,
                         int output_fd, std::int64_t gpu_memory_bytes);

/// Returns the error of the verdict whose plan a launcher could not perform.
ErrorKind error_kind(LaunchErrorKind kind);

/// The least time of a case on a device.
struct Floor {
  double expected_ns = 0;  // for all traffic at the memory's peak, or for all arithmetic
  /// The same, but traffic that fits into the L2 cache takes no time. No kernel can be faster.
  double possible_ns = 0;
};
/// Returns nothing if the device's figures are unknown.
std::optional<Floor> physics_floor(const DeviceFacts& device, double cost_bytes, double cost_flops);

}  // namespace assay::sandbox
