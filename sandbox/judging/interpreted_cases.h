// InterpretedCases represents one candidate, which runs cases in Triton's interpreter, in batches.
// The candidate's outputs are in memory files.
//
//   InterpretedCases full(run, pool, request, source);
//   if (!full.start()) return;  // the verdict of `run` has the error
//   full.set_inputs(prepared);
//   if (!full.perform({0, 1}, false)) return;
//   judge_case(run, judge, {job.cases[0], prepared.cases[0], full.outputs(0), full.file(0)});
//
// While a candidate waits for its next batch, it could still write to its files. So perform()
// copies the outputs of each batch except the last. After the last batch the candidate has ended.
// Outputs therefore cannot change after they are judged, and the outputs of public cases cannot
// contain anything about hidden cases. Use an object only on the thread of its job.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sandbox/job/job_execution.h"
#include "sandbox/record/candidate_run.h"

namespace assay::sandbox {

class InterpretedCases {
 public:
  /// All arguments must outlive this object. The mode of `request` is `interpret` or `ablate`.
  InterpretedCases(JobExecution& run, CandidatePool& pool, const CandidateJob& request,
                   const std::string& source);

  /// Imports the source, unless it is imported already. No inputs are needed. Returns false if the
  /// verdict of the run has become an error.
  bool start();
  /// Sets the inputs of all cases, which must outlive this object. Call this before perform().
  void set_inputs(const PreparedJob& prepared) { prepared_ = &prepared; }
  /// Runs the cases with these indices. Imports the source first, unless it is imported already. If
  /// `last` is true, the candidate ends after these cases. Returns false if the verdict of the run
  /// has become an error.
  bool perform(const std::vector<std::size_t>& cases, bool last);

  /// Returns the outputs of a case that was performed. They are tensors in file().
  const std::vector<Argument>& outputs(std::size_t i) const { return done_[i].outputs; }
  /// Returns true if torch, and not a kernel, changed the order of an output's elements.
  bool reordered(std::size_t i) const { return done_[i].reordered; }
  bool is_layout(std::size_t i) const { return prepared_->cases[i].is_layout; }
  int file(std::size_t i) const { return files_[i].get(); }
  /// Returns the run whose verdict gets the errors.
  JobExecution& run() { return run_; }

 private:
  JobExecution& run_;
  const PreparedJob* prepared_ = nullptr;  // set by set_inputs()
  CandidateRun candidate_;
  bool started_ = false;
  std::vector<UniqueFd> files_;  // one file for each case; empty before the first batch
  std::vector<CaseDone> done_;   // one result for each case; empty before the first batch
};

}  // namespace assay::sandbox
