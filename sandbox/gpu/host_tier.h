// The host tier: a submission that cannot be recorded runs with the GPU, inside the jail. Inputs
// reach it from the judge, round by round, outputs go back the same way, and the judge's clock is
// the only one (sandbox/harness/judging/host_rounds.py).
//
//   HostTier host(config, spawner, gpu);
//   if (host.run(run, judge, prepared, timed)) ...      // a record for each case is in the
//   verdict; false: the verdict says why not
//
// Its candidates are forked from a zygote of their own, whose jail shows the GPU's device files.
// That zygote starts with the first job that needs it. The caller holds the GPU.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "sandbox/job/job_execution.h"
#include "sandbox/pool/candidate_pool.h"
#include "sandbox/pool/judge.h"

namespace assay::sandbox {

class HostTier {
 public:
  HostTier(const SandboxConfig& config, Spawner& spawner, GpuAccess gpu);

  /// `timed`: for each case whether its latency is wanted.
  bool run(JobExecution& run, Judge& judge, const PreparedJob& prepared,
           const std::vector<bool>& timed);
  /// Versions and layers, once a job has been here.
  std::optional<PoolFacts> facts() const;

 private:
  using Seen = std::optional<std::vector<HostJudged>>;  // of every case
  /// One candidate's life. Nothing: the run's verdict says why.
  Seen converse(JobExecution& run, Judge& judge, const PreparedJob& prepared,
                const std::vector<bool>& timed, bool ablated);
  /// Another candidate, whose launches do nothing: outputs that are right even then are not the
  /// work of the submission's kernels.
  bool attribute(JobExecution& run, Judge& judge, const PreparedJob& prepared);
  CandidatePool& pool();

  SandboxConfig config_;
  Spawner& spawner_;
  mutable std::mutex mutex_;
  std::unique_ptr<CandidatePool> pool_;
};

}  // namespace assay::sandbox
