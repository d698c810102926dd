// HostTier runs a submission that cannot be recorded. The submission can use the GPU inside its
// jail. The judge runs each case in several rounds: in each round it sends the inputs and receives
// the outputs. Only the judge's clock measures the time (sandbox/harness/judging/host_rounds.py).
//
//   HostTier host(config, spawner, gpu_access);
//   if (!host.run(run, judge, prepared, timed)) return;  // the verdict of `run` has the error
//
// Candidates of this tier are forked from a separate zygote, whose jail shows the GPU's device
// files. This zygote starts with the first job that needs it. Thread-safe. The caller of run()
// holds the GPU exclusively.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sandbox/job/job_execution.h"
#include "sandbox/pool/judge.h"
#include "sandbox/pool/lazy_candidate_pool.h"

namespace assay::sandbox {

class HostTier {
 public:
  HostTier(const SandboxConfig& config, Spawner& spawner, GpuAccess gpu);

  /// What happens in one run of a candidate.
  struct Conversation {
    std::vector<bool> timed = {};  // for each case, whether its latency is measured; may be shorter
    // Whether the candidate also returns its outputs without the results of its kernels, and the
    // judge finds the origin of the outputs.
    bool ablated = false;
    bool idle = false;  // whether launches of kernels do nothing
  };

  /// Runs and judges the submission, and adds a record for each case to the verdict. The submission
  /// gets the hidden cases only if it is right on the public cases. `timed` tells for each case
  /// whether its latency is measured. Returns false if the verdict has become an error.
  bool run(JobExecution& run, Judge& judge, const PreparedJob& prepared,
           const std::vector<bool>& timed);
  /// Returns what the first candidate of this tier has reported: the versions of torch and Triton,
  /// and the isolation layers. Returns nothing before the first job.
  std::optional<PoolFacts> facts() const { return pool_.facts(); }
  /// Returns the pool of candidates that may use the GPU. The caller must hold the GPU exclusively
  /// while such a candidate runs code of a client.
  CandidatePool& candidates() { return pool_.get(); }

 private:
  /// Runs one candidate from its fork to its end. Adds a result for each case of a complete batch
  /// to `judged`. Returns false if the run's verdict has become an error.
  bool converse(JobExecution& run, Judge& judge, const PreparedJob& prepared,
                const Conversation& how, std::vector<HostJudged>& judged);
  /// Does the same, but charges the submission with every lack of GPU memory. `others_bytes`
  /// becomes HostJudged::others_bytes if the judge had no memory left.
  bool converse_once(JobExecution& run, Judge& judge, const PreparedJob& prepared,
                     const Conversation& how, std::vector<HostJudged>& judged,
                     std::optional<std::int64_t>& others_bytes);
  /// Runs another candidate, which also returns its outputs without the results of its kernels. A
  /// case passes only if its outputs are right in this run too, and depend on the kernels.
  bool attribute(JobExecution& run, Judge& judge, const PreparedJob& prepared);
  /// Runs a third candidate, whose launches do nothing. A case whose outputs are right nevertheless
  /// fails. All other ends of this run say nothing, because honest host code may need the results
  /// of its kernels. This finds outputs that host code has written to memory of a kernel unseen.
  /// `wall_ms` is the time limit.
  bool idle(JobExecution& run, Judge& judge, const PreparedJob& prepared, std::int64_t wall_ms);

  const SandboxConfig config_;
  LazyCandidatePool pool_;  // starts with the first job
};

}  // namespace assay::sandbox
