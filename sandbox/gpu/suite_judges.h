// SuiteJudges owns all judges of one device. Operators that the maintainer trusts share one group
// of judges. Each imported suite has a group of its own, whose judges run in a jail, so that the
// code of a suite can change neither the host nor the judge of another suite.
//
//   SuiteJudges judges(config, spawner, {.device = "cuda:0", .limits = {.judges = 4}});
//   JudgeGroup& group = judges.of(job.operator_dir);
//
// Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/gpu/judge_group.h"
#include "sandbox/job/config.h"
#include "sandbox/pool/candidate_pool.h"

namespace assay::sandbox {

/// Returns the device files that a process needs for this GPU, cuda:N or hip:N, as far as they
/// exist on this machine. Returns nothing for a device of another kind.
std::optional<GpuAccess> gpu_access(const std::string& device);

struct JudgeSettings {
  std::string device;              // the device of the judges: "cpu", "cuda:N" or "hip:N"
  JudgeQueue::Limits limits = {};  // of each group
  bool describes = false;          // whether a judge without the device describes cases
};

class SuiteJudges {
 public:
  SuiteJudges(const SandboxConfig& config, Spawner& spawner, const JudgeSettings& settings);
  SuiteJudges(const SuiteJudges&) = delete;
  SuiteJudges& operator=(const SuiteJudges&) = delete;

  /// Returns the judges of the operator in this folder.
  JudgeGroup& of(const std::string& operator_dir);
  /// As the functions of JudgeGroup, for all groups. Each judge of each group gets all of the time
  /// that the deadline leaves at the call.
  Status settle(const std::string& job, const Deadline& deadline);
  void free_memory(const Deadline& deadline);

 private:
  struct Suite {
    Suite(const SandboxConfig& config, Spawner& spawner, const JudgeSettings& settings,
          std::size_t number);
    const std::string folder;
    CandidatePool pool;
    JudgeGroup group;
  };

  JudgeGroup trusted_;
  std::vector<std::unique_ptr<Suite>> suites_;  // never changes after construction
};

}  // namespace assay::sandbox
