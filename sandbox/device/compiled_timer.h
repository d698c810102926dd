// CompiledTimer compiles the references of operators with torch.compile, and times the compiled
// references on one device. The timer has its own judge process, which serves no job. So no process
// of a submission disturbs the timer.
//
//   CompiledTimer timer(config, "cuda:0");
//   Result<CompiledTimes> times = timer.time(job);  // `job` has all cases of an operator
//
// Nothing else should use the GPU at the same time, because the timer does not lock the GPU. Not
// thread-safe.
#pragma once

#include <string>

#include "base/result.h"
#include "sandbox/gpu/suite_judges.h"
#include "sandbox/job/config.h"
#include "sandbox/job/job.h"
#include "sandbox/pool/process.h"
#include "sandbox/timing/compiled_times.h"

namespace assay::sandbox {

class CompiledTimer {
 public:
  CompiledTimer(const SandboxConfig& config, const std::string& device)
      : state_dir_(config.state_dir), judges_(config, spawner_, {.device = device}) {}

  /// Returns the path of the file that stores the times of the job's operator. Error: the judge
  /// does not start.
  Result<std::string> path_of(const Job& job);
  /// Times the cases that a grade would time, writes the times to the file and returns them. A case
  /// that cannot be compiled or takes too long is written as unsupported. Errors: the judge does
  /// not start, the operator cannot be loaded, or io.
  Result<CompiledTimes> time(const Job& job);

 private:
  static constexpr std::int64_t kStartWallMs = 120'000;
  static constexpr std::int64_t kPrepareWallMs = 120'000;
  // The time limit for compiling and timing one case. torch.compile unrolls loops, and such code
  // takes minutes to compile.
  static constexpr std::int64_t kCompileWallMs = 150'000;

  Judge& judge(const std::string& operator_dir) { return judges_.of(operator_dir).judge(0); }
  CompiledTime time_case(const std::string& operator_dir, const CaseRequest& one);

  const std::string state_dir_;
  Spawner spawner_;
  SuiteJudges judges_;
};

}  // namespace assay::sandbox
