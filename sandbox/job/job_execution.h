// JobExecution runs one job through its stages. It holds the verdict while the verdict is built,
// measures the time of each stage, and creates deadlines.
//
//   JobExecution run(job, monitor);
//   run.enter(Stage::judge);
//   Result<PreparedJob> prepared = judge.prepare(job, run.deadline(job.limits.judge_wall_ms));
//   if (!prepared) run.fail_infrastructure(prepared.error(), "preparing inputs");
//   if (run.failed()) return run.finish();
//
// Belongs to the thread that executes the job.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/job/device.h"
#include "sandbox/wire/deadline.h"

namespace assay::sandbox {

/// Why a judge could not do its part of a job.
enum class JudgeTrouble {
  ended,      // its process ended, or was ended, while it worked for this job
  forgotten,  // its process has replaced one that ended while it worked for another job
  no_memory,  // the device had too little free memory, perhaps because other jobs used it
  preempted,  // its process was ended because another job was timed
};

class JobExecution {
 public:
  JobExecution(const Job& job, JobMonitor& monitor);

  const Job& job() const { return job_; }
  Verdict& verdict() { return verdict_; }
  Stage stage() const { return stage_; }
  /// Returns JobMonitor::recorder.
  Recorder* recorder() const { return monitor_.recorder; }

  /// Starts to measure the time of a stage and reports the stage to the monitor. If a job enters a
  /// stage several times, the times are added up.
  void enter(Stage stage);
  /// Tells the monitor that `done` cases have completed the current stage. If `total` is not given,
  /// the monitor gets the total of the last call again.
  void case_done(std::size_t done, std::optional<std::size_t> total = std::nullopt);
  /// Records that a process of the submission receives hidden cases from now on. Such a process
  /// could fail on purpose at a stage of its choice, and reports of the stages would then reveal
  /// facts about the hidden cases. So from now on the monitor is told only of the stages from
  /// `baseline` on. A job reaches these stages only if all its cases are right.
  void tell_hidden() { verdict_.tells_hidden = true; }
  /// Records that a process of the submission reported that it lacked memory, descriptors,
  /// processes or space, and that nothing shows whose fault that was. If the job does not pass, and
  /// no process of it has received hidden cases, it then runs once more, and the second verdict
  /// counts. A process that has received hidden cases
  /// could report a shortage whenever its result is wrong, to get a second attempt. So its reports
  /// are not recorded. Auxiliary executions of the job share the record. Thread-safe.
  void tell_shortage() {
    if (!verdict_.tells_hidden) *shortage_ = true;
  }
  Deadline deadline(std::int64_t ms) const { return Deadline::after_ms(ms, monitor_.stop); }

  /// Ends the job with an error at the current stage. If the job already has an error, keeps the
  /// earlier error. Returns false, for use in `return run.fail(...)`.
  bool fail(ErrorKind kind, const std::string& detail) { return fail(kind, stage_, detail); }
  bool fail(ErrorKind kind, Stage stage, const std::string& detail);
  /// Ends the job with an error of a trusted process. The error kind is `cancelled` if the job was
  /// cancelled, `unsupported` if this device cannot do what the job needs, and otherwise
  /// `internal_error`.
  bool fail_infrastructure(const Error& error, const std::string& doing);
  /// Ends the job with an error of a judge (sandbox/pool/judge.h), and records the trouble behind
  /// it. A judge of this job alone ends only because of the operator's own code, so the error kind
  /// is then `reference_error`. Otherwise it is the one of fail_infrastructure().
  bool fail_by_judge(const Error& error, const std::string& doing);
  /// The first trouble since the start, or since begin_again(). Auxiliary executions of the job
  /// share it. Thread-safe.
  std::optional<JudgeTrouble> judge_trouble() const;
  /// Removes what the verdict has of the cases and of an error, so that the job can run again. Set
  /// `alone` if the job has a judge of its own from now on, and `all_memory` if the job lacked
  /// memory of the device. The monitor is still told nothing that it must not be told
  /// (tell_hidden).
  void begin_again(bool alone, bool all_memory = false);
  /// Whether no other job may have inputs in the device's memory while this job runs.
  bool needs_all_memory() const { return all_memory_; }
  /// Removes the error that ended the job, so that the job can continue, for example on the host
  /// tier.
  void clear_error();
  bool failed() const {
    return verdict_.outcome == Outcome::error && verdict_.error_kind != ErrorKind::none;
  }

  /// Returns an auxiliary execution of the same job, for example for the oracle. It has the same
  /// cancellation and limits and a separate verdict, and reports no progress.
  JobExecution auxiliary() const;

  /// Returns an auxiliary execution of a changed copy of the job, for example with shorter limits.
  /// `job` must outlive the returned object.
  JobExecution auxiliary(const Job& job) const;

  /// Writes the outcome and the summary of a job that has run. The cases decide the outcome
  /// (conclude() in verdict_builder.h). A compile job has no judged cases, so its outcome is the
  /// outcome of the compilation.
  void conclude(const std::vector<std::string>& required_cases);

  /// Adds the time of the last stage and returns the verdict.
  Verdict finish();

 private:
  void close_stage();

  const Job& job_;
  JobMonitor& monitor_;
  bool silent_ = false;
  bool alone_ = false;  // the job has a judge of its own
  bool all_memory_ = false;
  // 0, or 1 plus the number of the JudgeTrouble
  std::shared_ptr<std::atomic<int>> trouble_ = std::make_shared<std::atomic<int>>(0);
  Verdict verdict_;
  std::shared_ptr<std::atomic<bool>> shortage_ = std::make_shared<std::atomic<bool>>(false);
  Stage stage_ = Stage::queue;
  std::size_t cases_ = 0;
  std::int64_t since_ns_;  // the start of the stage, by the system's monotonic clock
};

}  // namespace assay::sandbox
