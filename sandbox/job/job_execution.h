// JobExecution: one job on its way through its stages: the verdict so far, the clock of the current
// stage, the deadlines.
//
//   JobRun run(job, monitor);
//   run.enter(Stage::judge);
//   judge.prepare(job, true, run.deadline(job.limits.judge_wall_ms));
//   if (run.failed()) return run.finish();
//
// Belongs to the thread that executes the job.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "sandbox/job/device.h"
#include "sandbox/wire/deadline.h"

namespace assay::sandbox {

class JobExecution {
 public:
  JobExecution(const Job& job, JobMonitor& monitor);

  const Job& job() const { return job_; }
  Verdict& verdict() { return verdict_; }
  Stage stage() const { return stage_; }

  /// Starts a stage's clock and tells the monitor. Stages may come again; their times add up.
  void enter(Stage stage);
  /// Tells the monitor that `done` cases are through the current stage, of as many as were named
  /// last.
  void case_done(std::size_t done, std::optional<std::size_t> total = std::nullopt);
  Deadline deadline(std::int64_t ms) const { return Deadline::after_ms(ms, monitor_.stop); }

  /// Ends the job as an error at the current stage; the first error stays. Returns false, for
  /// `return run.fail(...)`.
  bool fail(ErrorKind kind, const std::string& detail) { return fail(kind, stage_, detail); }
  bool fail(ErrorKind kind, Stage stage, const std::string& detail);
  /// An error of one of our own processes: cancelled stays cancelled, everything else is
  /// internal_error.
  bool fail_infrastructure(const Error& error, const std::string& doing);
  /// Takes the error back that the job ended with: it goes on in another way.
  void clear_error();
  bool failed() const {
    return verdict_.outcome == Outcome::error && verdict_.error_kind != ErrorKind::none;
  }

  /// A second run of the same job for something beside it (the baseline): shares monitor and
  /// limits, has a verdict of its own, reports no stages.
  JobExecution beside() const;

  /// Adds the time of the last stage and hands the verdict out.
  Verdict finish();

 private:
  void close_stage();

  const Job& job_;
  JobMonitor& monitor_;
  bool silent_ = false;
  Verdict verdict_;
  Stage stage_ = Stage::queue;
  std::size_t cases_ = 0;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace assay::sandbox
