// Judge: the Python process that makes inputs and compares outputs. It is trusted, runs without a
// jail and never sees a submission.
//
//   Judge judge(config, spawner, "cpu");
//   Result<PreparedJob> prepared = judge.prepare(job, false, deadline);
//   Result<Compared> compared = judge.compare(job.id, "small", outputs, output_fd, deadline);
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
  /// Compares outputs with the reference. `output_fd` is a memory file, or -1 if the outputs are in
  /// the device memory of the case. Set `keep` if a call of attribute() for these outputs follows.
  Result<Compared> compare(const std::string& job, const std::string& case_id,
                           const std::vector<Argument>& outputs, int output_fd,
                           const Deadline& deadline, bool keep = false);
  /// Judges all rounds of a case with a candidate that has the GPU. The judge talks to the
  /// candidate over the socket `line`. Returns when the judge has its result or the candidate has
  /// ended.
  Result<HostJudged> host_case(const std::string& job, const std::string& case_id, int line,
                               bool time, const Limits& limits, const Deadline& deadline);
  /// Tells whether kernels produced the outputs that compare() found right. `without` are the
  /// outputs of a run whose kernels did nothing.
  Result<Attributed> attribute(const std::string& job, const std::string& case_id,
                               const std::vector<Argument>& outputs, int output_fd,
                               const std::vector<Argument>& without, int without_fd,
                               const Deadline& deadline);
  /// Does the same for outputs on the device that compare() kept. `without` have overwritten them.
  Result<Attributed> attribute(const std::string& job, const std::string& case_id,
                               const std::vector<Argument>& without, const Deadline& deadline);
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
