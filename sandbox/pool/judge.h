// A Judge is the Python process that makes inputs and compares outputs with the reference. The
// process is trusted, runs without a jail, and never sees a submission. The judge of a check is
// different: it is jailed and untrusted (sandbox/pool/reference_process.h), it judges one job, and
// each of its failures is an error of the reference.
//
//   Judge judge(config, spawner, "cpu");
//   Result<PreparedJob> prepared = judge.prepare(job, deadline);
//   Result<Compared> compared =
//       judge.compare({job.id, "small"}, {.tensors = outputs, .fd = output_fd}, deadline);
//   judge.release(job.id);
//
// Thread-safe. The judge answers one request at a time, in the order of arrival. The first request
// starts the process; one of the constructors starts a thread that does this earlier. If the
// process ends or misses a deadline, the next request starts a new process. The new process does
// not know the jobs that the old process had prepared.
//
// The deadline of a request limits the judge's work on it, so its time counts from the request's
// turn, and, except for the reference of a check, from when the process is ready. Otherwise the
// slow work for one job would end the requests of others.
//
// Errors of requests, besides `cancelled`: `unavailable` if the process ended while it worked on
// the request, or was ended because it missed the deadline, had a broken GPU context, sent a
// malformed answer although it is not trusted; `not_found` if the process does not know the job,
// because it replaced a process that ended; `preempted` instead of both if settle() ended the
// process, so that the code that it executed is not to blame;
// `resource_exhausted` if the device has too little free memory; `unsupported` if the case needs a
// GPU; `reference` for the reference of a check; `internal` for everything else.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/pool/fifo_semaphore.h"
#include "sandbox/pool/judge_process.h"
#include "sandbox/pool/messages.h"
#include "sandbox/pool/process.h"

namespace assay::sandbox {

struct PreparedJob {
  std::vector<PreparedCase> cases;  // in the job's order
  /// The device memory in which the launcher finds inputs and leaves outputs of the cases that have
  /// PreparedCase::device. The inputs and outputs of other cases are in memory files.
  std::optional<DeviceMemory> device;
  std::vector<UniqueFd> fds;  // Argument::fd is an index into this list

  /// Gives up the device memory. It is free as soon as the judge has freed it, too.
  void close_device_memory() {
    if (!device) return;
    fds[static_cast<std::size_t>(device->fd)].reset();
    device.reset();
    for (PreparedCase& one : cases) one.device.reset();
  }
};

/// Identifies a case of a job that the judge has prepared.
struct CaseName {
  std::string job, case_id;
};

/// The outputs of one run of a case. This struct does not own the tensors or the file.
struct RunOutputs {
  const std::vector<Argument>& tensors;
  int fd = -1;  // a memory file, or -1 if the outputs are in the case's device memory
};

/// The outputs of two runs of a case. Both runs use memory files, or both use device memory.
struct AttributionRuns {
  RunOutputs full;     // the normal run, whose outputs compare() has accepted
  RunOutputs without;  // the run in which the kernels did nothing
};

class Judge {
 public:
  /// The time in which a judge must be ready, before the first request or at a request.
  static constexpr std::int64_t kStartMs = 120'000;

  /// `device` is "cpu" or "cuda:N". The process sees only GPU N, under the number 0, because
  /// imported code uses the number 0. `number` distinguishes the judges of one device.
  Judge(const SandboxConfig& config, Spawner& spawner, const std::string& device, int number = 0);
  /// Uses the given process, which is started by the first request or by ready().
  explicit Judge(std::unique_ptr<JudgeProcess> process);
  ~Judge();
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  /// Waits until the process is ready, and returns its message `ready`.
  Result<JudgeReady> ready(const Deadline& deadline);
  /// Returns the shapes, dtypes and scalars of the cases' arguments and outputs. Only structural
  /// arguments have bytes. The judge makes inputs only if the description depends on them. The
  /// judge does not remember the job.
  Result<PreparedJob> describe(const Job& job, const Deadline& deadline);
  /// Does the same as describe(), but returns nothing if the judge would have to make inputs.
  Result<std::optional<PreparedJob>> describe_without_inputs(const Job& job,
                                                             const Deadline& deadline);
  /// Makes inputs for all cases from new seeds.
  Result<PreparedJob> prepare(const Job& job, const Deadline& deadline, const HostCases& host = {});
  /// Compares outputs with the reference. Set `keep` if the outputs are in device memory and a call
  /// of attribute() follows.
  Result<Compared> compare(const CaseName& of, const RunOutputs& outputs, const Deadline& deadline,
                           bool keep = false);
  /// Runs all rounds of a case with a candidate that has the GPU, and judges the outputs of the
  /// rounds. Returns when the judge has its result, or when the candidate has ended.
  Result<HostJudged> host_case(const CaseName& of, const HostRounds& rounds, const Limits& limits,
                               const Deadline& deadline);
  /// Tells whether kernels computed the outputs that compare() has accepted. In device memory, the
  /// outputs of the run without kernels have overwritten the outputs of the full run. So the judge
  /// uses the copy that compare() kept. Errors: invalid_argument if only one of the two runs has a
  /// memory file.
  Result<Attributed> attribute(const CaseName& of, const AttributionRuns& runs,
                               const Deadline& deadline);
  /// Replaces a case's inputs by new ones, if the inputs are in device memory and no recording
  /// depends on their values. Returns the new seed, or an empty string if the inputs were not
  /// replaced.
  Result<std::string> refresh(const std::string& job, const std::string& case_id,
                              const Deadline& deadline);
  /// Makes the judge copy outputs that are in the shared device memory, so that compare_aside() can
  /// judge them after refresh() or another launch. Returns false if the judge had no room; then the
  /// caller compares the outputs at once.
  Result<bool> set_aside(const CaseName& of, const std::vector<Argument>& outputs,
                         const Deadline& deadline);
  /// Judges the oldest outputs of a case that were set aside, by the inputs to which they belong.
  Result<Compared> compare_aside(const CaseName& of, const Deadline& deadline);
  /// Makes the judge draw inputs until the next `rounds` calls of refresh() only copy theirs. If
  /// the judge has no room for them, refresh() draws them.
  Status draw_ahead(const CaseName& of, int rounds, const Deadline& deadline);
  /// Waits until the judge has computed the references of a case. If the computation fails, this
  /// call succeeds, and compare() returns the error later. Set `timed` if the case will be timed.
  Status compute_references(const CaseName& of, bool timed, const Deadline& deadline);
  /// Makes the judge give device memory back that no job uses. Returns who holds the memory then;
  /// what others held before refers to `job`. Does nothing if the process has had no request yet.
  Result<DeviceRoom> free_memory(const Deadline& deadline, const std::string& job = {});
  /// Waits until the judge has finished its work on the device. The judge may still compute
  /// references after prepare() has returned. Does nothing if the process has had no request yet,
  /// or has ended. If this call fails with another error than `cancelled`, the judge's process was
  /// ended, also if it worked on a request of another job. Only if the error is `internal` and the
  /// judge was busy, other jobs had their turns first.
  Status settle(const std::string& job, const Deadline& deadline);
  /// Times PyTorch's own implementation of the operator for one case, on the judge's device. After
  /// `longest`, the judge takes no further sample. Returns at least one time, in nanoseconds.
  Result<std::vector<double>> time_reference(const std::string& job, const std::string& case_id,
                                             std::chrono::milliseconds longest,
                                             const Deadline& deadline);
  /// Compiles the operator's reference with torch.compile, and times one case of it. The
  /// compilation takes minutes for some references, so do not call this function on a judge that
  /// serves jobs. If `eager` is true, times the reference without compiling it.
  Result<CompiledTime> time_compiled(const std::string& operator_dir, const CaseRequest& one,
                                     const Deadline& deadline, bool eager = false);
  /// Checks the operator itself (reference, mutants, cost model) with inputs that `seed`
  /// determines.
  Result<std::vector<LintCheck>> lint(const std::string& operator_dir,
                                      const std::vector<CaseRequest>& cases, std::uint32_t seed,
                                      const Deadline& deadline);
  /// Makes the judge forget the job. Does not wait: if the judge is busy, it forgets the job before
  /// it begins with the next request. The slot `memory` is freed only then, because the judge uses
  /// the job's memory on the device until then.
  void release(const std::string& job, std::optional<FifoSemaphore::Slot> memory = {});

 private:
  static constexpr const char* kSetting = "judge_wall_ms, option --judge-wall-ms";
  static constexpr const char* kNoSetting = "";

  Status ensure_started(const Deadline& deadline);
  void stop_process();
  void stop_for_timing();
  void note_end();
  Error of_reference(const Error& error);
  Error malformed(const Error& error);
  struct Request {
    nlohmann::json header;
    std::vector<int> fds;
    std::string job, case_id;  // the answer must have them; a case without an ID is not compared
    // The setting behind the deadline, and the cases of a request about several ones, for the error
    // of a judge that misses the deadline.
    const char* setting = kSetting;
    const std::vector<CaseRequest>* cases = nullptr;
  };
  /// Reads an answer that is no error. The caller of read() holds the slot of turn_.
  using Read = std::function<Status(Frame& answer)>;
  template <class T>
  Result<T> ask_for(Result<T> (*parse)(const Frame&), const Request& request,
                    const Deadline& deadline);
  Result<PreparedJob> ask_for_cases(const Job& job, const nlohmann::json& request,
                                    const Deadline& deadline);
  static Result<PreparedJob> complete(const Job& job, const nlohmann::json& request,
                                      Prepared prepared, std::vector<UniqueFd> fds);
  Status ask(const Request& request, const Read& read, const Deadline& deadline);
  Status ask_in_turn(const Request& request, const Read& read, const Deadline& deadline);
  Status ask_now(const Request& request, const Read& read, const Deadline& work);
  Result<Frame> receive_answer(const Request& request, const Deadline& work);
  Status settle_in_turn(const std::string& job, const Deadline& deadline);
  std::string late_text(const Request& request, const Deadline& work) const;
  void note_begun(const Frame& frame, const Request& request);
  bool set_asked_socket(int socket);
  void interrupt();
  void send_releases();
  void send_releases_now();
  bool has_releases();

  /// A semaphore with one slot. Only the holder of the slot may use process_, ready_ and failure_.
  FifoSemaphore turn_{1, "the judge was busy for all of the time allowed"};
  const std::unique_ptr<JudgeProcess> process_;
  std::optional<JudgeReady> ready_;
  std::string last_end_;                  // how the last process ended, if it ended by itself
  bool gave_way_ = false;                 // whether settle() ended the last process
  std::string begun_;                     // the case of the request that the process has begun
  std::atomic<bool> has_worked_ = false;  // whether the process has had a request
  /// The first error of the reference of a check. Every later request gets the same error, so a
  /// reference that hangs is waited for only once.
  std::optional<Error> failure_;
  Mutex mutex_;
  struct Release {
    std::string job;
    std::optional<FifoSemaphore::Slot> memory;
  };
  /// The jobs that the process must forget and that have not been sent to it.
  std::vector<Release> released_ ASSAY_GUARDED_BY(mutex_);
  /// The socket of the process that works on a request, or -1.
  int asked_socket_ ASSAY_GUARDED_BY(mutex_) = -1;
  bool interrupted_ ASSAY_GUARDED_BY(mutex_) = false;  // whether interrupt() ended this work
  std::stop_source shutdown_;
  std::thread warm_up_;
};

template <class T>
Result<T> Judge::ask_for(Result<T> (*parse)(const Frame&), const Request& request,
                         const Deadline& deadline) {
  Result<T> answer = fail(ErrorCode::internal, "the judge's answer was not read");
  const Read read = [&](const Frame& frame) -> Status {
    answer = parse(frame);
    return answer ? Status{} : fail(answer.error());
  };
  if (Status asked = ask(request, read, deadline); !asked) return fail(asked.error());
  return answer;
}

}  // namespace assay::sandbox
