// GpuJob runs one test, profile or grade on a GPU. On the plan tier, a candidate without a GPU
// records the submission. Then the judge makes inputs, a trusted launcher performs the plan, and
// the judge compares the outputs. So a submission that fails while it is recorded needs neither
// inputs nor the GPU. A submission that cannot be recorded runs on the host tier, with the GPU
// inside the jail. Then the submission is timed together with the operator's oracle, and its
// profile is written.
//
//   GpuJob(gpu, facts, run).execute();  // the verdict of `run` has all results
//
// Belongs to one thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/gpu/gpu_context.h"
#include "sandbox/launch/launching.h"
#include "sandbox/pool/reference_process.h"

namespace assay::sandbox {

class GpuJob {
 public:
  /// If `alone` is given, it is a judge that serves only this job.
  GpuJob(GpuContext& gpu, const DeviceFacts& facts, JobExecution& run, Judge* alone = nullptr)
      : gpu_(gpu), facts_(facts), run_(run), alone_(alone) {
    if (alone != nullptr) own_describer_.emplace(*alone);
    if (!run.job().reference) return;
    own_judge_.emplace(std::make_unique<ReferenceProcess>(gpu.candidates(), run.job().limits,
                                                          *run.job().reference));
    own_describer_.emplace(*own_judge_);
  }
  GpuJob(const GpuJob&) = delete;
  GpuJob& operator=(const GpuJob&) = delete;
  void execute();

 private:
  using Plans = std::vector<std::string>;
  using Mode = GpuScheduler::Mode;

  // If the run's verdict has become an error, a function that returns a bool returns false, and a
  // function that returns an optional returns nothing.

  bool is_timed() const {
    return run_.job().kind == JobKind::profile || run_.job().kind == JobKind::grade;
  }
  /// Reserves the job's judge, and then locks the GPU in this mode. If the job already holds the
  /// lock in another mode, first releases it; otherwise the job could wait for itself.
  bool lock(Mode mode);
  /// Releases the lock, and ends the reservation of the judge.
  void unlock();
  /// Releases the lock, and adds the time for which this job had the GPU alone to the verdict.
  void release_gpu();
  bool holds(Mode mode) const { return guard_ && guard_->mode() == mode; }
  /// Locks the GPU exclusively, and waits until no judge uses it.
  bool lock_idle_gpu();

  /// Does the work of execute(). If `watched` is true, NVIDIA Compute Sanitizer checks the plans.
  void perform(bool watched);
  /// Describes the cases, if that is possible without inputs.
  bool describe();
  /// Makes the inputs of all cases, unless that has been done. Holds no GPU lock afterwards.
  bool prepare();
  bool load_or_prepare();
  bool prepare_by(Judge& judge);
  HostCases small_cases() const;
  /// Launches and judges the public cases. The submission gets the hidden cases only if all public
  /// cases are right.
  bool judge_public(const std::vector<CaseDone>& open);
  /// Waits for the references of the cases from `first` to before `end`, which may take seconds.
  /// The comparisons are then short, so the job holds the GPU lock in shared mode for a short time.
  bool compute_references(std::size_t first, std::size_t end);
  bool compute_reference(std::size_t i, bool timed);
  /// Makes the judge draw the inputs of the rounds of the cases that will be timed.
  bool draw_ahead();
  bool open_session();
  void on_plan_tier(CandidateResults recorded);
  void on_host_tier();
  std::optional<CandidateResults> record();
  bool make_outputs();
  /// Launches and judges consecutive cases, one for each plan. `first` is the index of the first
  /// case.
  bool launch_and_judge(std::size_t first, const Plans& plans);
  bool launch_and_judge_once(std::size_t first, const Plans& plans);
  /// Returns true if the last launch failed for lack of GPU memory, which others may occupy.
  bool lacked_memory() const { return session_ && session_->device_was_full(); }
  bool alone_again();
  void add_figures(CandidateResults recorded);
  Plans record_reference();
  bool measure(LaunchSession* session, const Plans& plans, Plans reference);
  /// Replays the cases under the sanitizer. A finding fails the case in which it occurs.
  bool sanitize(const Plans& plans);
  void profile(const Plans& plans);
  void describe(const std::string& plan, std::vector<KernelCounters> counters = {},
                std::map<std::string, std::string> missing = {});

  CaseDescriber& describer() {
    return own_describer_ ? *own_describer_ : gpu_.describer(run_.job());
  }

  GpuContext& gpu_;
  const DeviceFacts& facts_;
  JobExecution& run_;
  Judge* const alone_;  // a judge that serves only this job, or null
  // The judge of a check, which has no GPU, and the describer of a job that has a judge of its own.
  std::optional<Judge> own_judge_;
  std::optional<CaseDescriber> own_describer_;
  Judge* judge_ = nullptr;  // set by prepare()
  // The cases. describe() sets them without inputs, if that is possible. prepare() replaces them by
  // the cases with inputs.
  PreparedJob prepared_;
  std::optional<GpuScheduler::MemorySlot> memory_;
  std::optional<JudgeQueue::Turn> turn_;  // set by prepare(), unless the job has a judge of its own
  std::optional<GpuScheduler::Guard> guard_;
  std::int64_t locked_at_ns_ = 0;  // when the job got guard_
  std::vector<UniqueFd> outputs_;  // set by make_outputs(), one for each case
  std::optional<LaunchSession> session_;
  // Set when the recorder may send hidden cases. Verdict::tells_hidden also remembers those of an
  // earlier attempt, whose judge ended.
  bool sent_hidden_ = false;
  std::size_t judged_ = 0;  // number of public cases that judge_public() judged
};

}  // namespace assay::sandbox
