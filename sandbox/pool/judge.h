// Judge: the Python process that makes inputs and compares outputs. It is trusted, runs without a
// jail and never sees a submission.
//
//   Judge judge(config, spawner, "cpu");
//   Result<PreparedJob> prepared = judge.prepare(job, false, deadline);
//   Result<Compared> compared =
//       judge.compare({job.id, "small"}, {.tensors = outputs, .fd = output_fd}, deadline);
//   judge.release(job.id);
//
// Thread-safe: it answers one request at a time, first come, first served. A thread of the judge
// starts the process at construction. A process that ended or missed a deadline is started again,
// and then it does not know the jobs that were prepared before.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "sandbox/jail/gpu_nodes.h"
#include "sandbox/job/config.h"
#include "sandbox/pool/fifo_semaphore.h"
#include "sandbox/pool/messages.h"
#include "sandbox/pool/process.h"

namespace assay::sandbox {

struct PreparedJob {
  std::vector<PreparedCase> cases;  // in the job's order
  /// Where the launcher finds inputs and leaves outputs, or nothing if they are in memory files.
  std::optional<DeviceMemory> device;
  std::vector<UniqueFd> fds;  // Argument::fd is an index into this list
};

/// Names a case of a job that the judge has prepared.
struct CaseName {
  std::string job, case_id;
};

/// The outputs of one run of a case. Borrows them.
struct RunOutputs {
  const std::vector<Argument>& tensors;
  int fd = -1;  // a memory file, or -1 if the outputs are in the device memory of the case
};

/// The outputs of two runs of a case, both in memory files or both in device memory.
struct AttributionRuns {
  RunOutputs full;     // compare() found them right
  RunOutputs without;  // of a run whose kernels did nothing
};

/// How the judge goes through a case with a candidate that has the GPU.
struct HostRounds {
  int line = -1;      // the socket to the candidate
  bool time = false;  // also take timed rounds
};

class Judge {
 public:
  /// `device` is "cpu" or "cuda:N". The process sees only GPU N, as number 0, because imported code
  /// uses that number. `number` tells the judges of one device apart.
  Judge(const SandboxConfig& config, Spawner& spawner, const std::string& device, int number = 0);
  ~Judge();
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  /// Waits until the process is ready and returns the facts of its `ready` message.
  Result<JudgeReady> ready(const Deadline& deadline);
  Result<PreparedJob> prepare(const Job& job, bool structural_only, const Deadline& deadline);
  /// Compares outputs with the reference. Set `keep` if a call of attribute() for outputs in device
  /// memory follows.
  Result<Compared> compare(const CaseName& of, const RunOutputs& outputs, const Deadline& deadline,
                           bool keep = false);
  /// Judges all rounds of a case with a candidate that has the GPU. Returns when the judge has its
  /// result or the candidate has ended.
  Result<HostJudged> host_case(const CaseName& of, const HostRounds& rounds, const Limits& limits,
                               const Deadline& deadline);
  /// Tells whether kernels produced the outputs that compare() found right. In device memory the
  /// outputs of the run without kernels have overwritten those of the full run, which compare() has
  /// kept. Errors: invalid_argument if only one of the runs has a memory file.
  Result<Attributed> attribute(const CaseName& of, const AttributionRuns& runs,
                               const Deadline& deadline);
  /// Replaces the inputs if they are in device memory and no recording depends on their values.
  /// Returns the new seed, or an empty string if the inputs stay.
  Result<std::string> refresh(const std::string& job, const std::string& case_id,
                              const Deadline& deadline);
  /// Waits until the judge computes nothing on its device. It computes references ahead, after
  /// prepare() has returned.
  Status settle(const std::string& job, const Deadline& deadline);
  /// Times PyTorch's own implementation on the device. Returns samples in nanoseconds.
  Result<std::vector<double>> time_reference(const std::string& job, const std::string& case_id,
                                             const Deadline& deadline);
  /// Checks the operator itself (reference, mutants, cost model) with inputs from `seed`.
  Result<std::vector<LintCheck>> lint(const std::string& operator_dir,
                                      const std::vector<CaseRequest>& cases, std::uint32_t seed,
                                      const Deadline& deadline);
  /// Makes the judge forget the job. Waits while the judge is busy.
  void release(const std::string& job);

 private:
  Status ensure_started(const Deadline& deadline);
  Result<Frame> ask(const nlohmann::json& request, const std::vector<int>& fds,
                    const std::string& job, const std::string& case_id, const Deadline& deadline);
  void stop();

  const SandboxConfig config_;
  Spawner& spawner_;
  const std::optional<LoneGpu> gpu_;
  const std::string device_;  // the process's name for its device
  /// The holder of its one slot may use the socket, and it alone uses the next three members.
  FifoSemaphore turn_{1, "the judge was busy for all of the time allowed"};
  Process process_;
  UniqueFd socket_;
  std::optional<JudgeReady> ready_;
  std::string log_;
  std::stop_source shutdown_;
  std::thread warm_up_;
};

}  // namespace assay::sandbox
