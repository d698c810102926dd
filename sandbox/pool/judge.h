// Judge: the Python process that makes inputs and compares outputs. Trusted, not jailed, and it
// never sees a submission.
//
//   Result<PreparedJob> prepared = judge.prepare(job, "cpu", false, deadline);
//   Result<Compared> compared = judge.compare(job.id, "small", outputs, memfd, deadline);
//   judge.release(job.id);
//
// Thread-safe: one request at a time. Started at construction, behind the caller; started again
// when it has died or missed a deadline, after which compare() of jobs prepared before fails.
#pragma once

#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "sandbox/jail/gpu_nodes.h"
#include "sandbox/job/config.h"
#include "sandbox/pool/messages.h"
#include "sandbox/pool/process.h"

namespace assay::sandbox {

struct PreparedJob {
  std::vector<PreparedCase> cases;  // in the job's order
  std::optional<DeviceMemory>
      device;  // where the launcher finds inputs and leaves outputs; none: in memory files
  std::vector<UniqueFd> fds;  // what their arguments' `fd` index
};

class Judge {
 public:
  /// `device`: "cpu" or "cuda:N", the only GPU that it then sees, as number 0: code that was
  /// imported names it so. `number`: among the judges of one device.
  Judge(const SandboxConfig& config, Spawner& spawner, const std::string& device, int number = 0);
  ~Judge();
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  /// Its facts once it is up; waits for that.
  Result<JudgeReady> ready(const Deadline& deadline);
  Result<PreparedJob> prepare(const Job& job, bool structural_only, const Deadline& deadline);
  /// `output_fd` -1: the outputs are in the device memory of the job.
  /// `output_fd`: a memory file, or -1 for the device memory of the case. `keep`: attribute() will
  /// be asked about outputs there.
  Result<Compared> compare(const std::string& job, const std::string& case_id,
                           const std::vector<Argument>& outputs, int output_fd,
                           const Deadline& deadline, bool keep = false);
  /// All rounds of a case with a candidate that has the GPU, over `line`; returns when the judge
  /// has seen enough, or the candidate has ended.
  Result<HostJudged> host_case(const std::string& job, const std::string& case_id, int line,
                               bool time, const Limits& limits, const Deadline& deadline);
  /// Are outputs that compare() found right the work of kernels? `without`: those of a run whose
  /// kernels did nothing.
  Result<Attributed> attribute(const std::string& job, const std::string& case_id,
                               const std::vector<Argument>& outputs, int output_fd,
                               const std::vector<Argument>& without, int without_fd,
                               const Deadline& deadline);
  /// The same of outputs on the device, which compare() kept, and which `without` have overwritten.
  Result<Attributed> attribute(const std::string& job, const std::string& case_id,
                               const std::vector<Argument>& without, const Deadline& deadline);
  /// New inputs in place of the old ones, where they lie in device memory and nothing that was
  /// recorded hangs on them. The new seed, or nothing.
  Result<std::string> refresh(const std::string& job, const std::string& case_id,
                              const Deadline& deadline);
  /// Returns once nothing of what the judge was asked for is at work on its device any more:
  /// references are computed ahead, after prepare() has returned.
  Status settle(const std::string& job, const Deadline& deadline);
  /// Samples of PyTorch's own on the device, nanoseconds.
  Result<std::vector<double>> time_reference(const std::string& job, const std::string& case_id,
                                             const Deadline& deadline);
  /// Checks an operator itself: reference, mutants, cost model, on inputs from `seed`.
  Result<std::vector<LintCheck>> lint(const std::string& operator_dir,
                                      const std::vector<CaseRequest>& cases, std::uint32_t seed,
                                      const Deadline& deadline);
  void release(const std::string& job);

 private:
  Status ensure_started(const Deadline& deadline);
  Result<Frame> ask(const nlohmann::json& request, const std::vector<int>& fds,
                    const std::string& job, const std::string& case_id, const Deadline& deadline);
  Result<std::unique_lock<std::timed_mutex>> lock(const Deadline& deadline);
  void stop();

  const SandboxConfig config_;
  Spawner& spawner_;
  const std::optional<LoneGpu> gpu_;
  const std::string device_;  // as the judge calls it
  std::timed_mutex mutex_;
  Process process_;
  UniqueFd socket_;
  std::optional<JudgeReady> ready_;
  std::string log_;
  std::stop_source shutdown_;
  std::thread warm_up_;
};

}  // namespace assay::sandbox
