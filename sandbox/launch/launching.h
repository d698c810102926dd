// Launching one case's plan and turning every way in which that can end into the verdict.
//
//   LaunchSession session(run, launchers);
//   std::optional<Launched> launched = session.launch(prepared, i, plan, output_file,
//   TimedBlock{}); if (!launched) return;                          // run's verdict says why
//
// A session is one launcher process. That of a grade performs the plans of one submission and
// nothing of any other; that of a test or a profile goes on to the next one of the same run, and
// that of an oracle to the next oracle. Belongs to one thread.
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

class LaunchSession {
 public:
  enum class Whose { submission, oracle };
  LaunchSession(JobExecution& run, LauncherPool& launchers, Whose whose = Whose::submission);
  LaunchSession(const LaunchSession&) = delete;
  LaunchSession& operator=(const LaunchSession&) = delete;
  ~LaunchSession() { end(); }

  /// Takes a launcher, which launch() does otherwise: one may have to be started, and nobody should
  /// hold a GPU meanwhile. False: the run's verdict says why.
  bool ready();
  /// `time`: with samples, taken so. `chosen`: the alternative of each tunable, where an earlier
  /// launch has chosen them. `inspect`: after the samples, its timeline and whether it is
  /// deterministic. `stage_next_inputs`: puts other inputs in place between warm-up and samples;
  /// where it says false the run's verdict says why, and nothing is returned.
  std::optional<Launched> launch(const PreparedJob& prepared, std::size_t index,
                                 const std::string& plan, int output_fd,
                                 const std::optional<TimedBlock>& time = std::nullopt,
                                 const std::vector<std::int64_t>& chosen = {}, bool inspect = false,
                                 const std::function<bool()>& stage_next_inputs = {});
  /// Without the submission's kernels.
  std::optional<Launched> launch_ablated(const PreparedJob& prepared, std::size_t index,
                                         const std::string& plan, int output_fd);

 private:
  std::optional<Launched> perform(LaunchRequest request, const PreparedJob& prepared,
                                  std::size_t index, const std::string& plan, int output_fd,
                                  const std::function<bool()>& stage_next_inputs = {});
  Result<std::unique_ptr<LauncherClient>> take(const Deadline& deadline);
  void end();
  std::optional<Launched> failed(const Error& error, const std::string& case_id);

  JobExecution& run_;
  LauncherPool& launchers_;
  const Whose whose_;
  const std::string kept_for_;  // the run that may go on with the launcher; empty: nobody
  bool failed_ = false;         // something did that it performed
  std::unique_ptr<LauncherClient> launcher_;
};

/// What a launcher is asked for, and the descriptors that go along, borrowed.
struct LaunchFiles {
  LaunchRequest request;
  std::vector<int> fds;
};
/// Completes a request for one case: its inputs, wherever the judge put them, and its output file.
LaunchFiles launch_files(LaunchRequest about, const PreparedJob& prepared, std::size_t index,
                         int output_fd, std::int64_t gpu_memory_bytes);

/// Physics: the least time for a case on a device, nanoseconds; nullopt when the device's figures
/// are not known.
struct Floor {
  double expected_ns = 0;  // all of its traffic at the memory's peak, or all of its arithmetic
  double possible_ns =
      0;  // the same, but what fits the L2 cache costs nothing: nothing can be faster than this
};
std::optional<Floor> physics_floor(const LauncherDevice& device, double cost_bytes,
                                   double cost_flops);

}  // namespace assay::sandbox
