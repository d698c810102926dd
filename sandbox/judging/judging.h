// Judges a case. The judge process compares the outputs. The functions also check that the
// submission's own kernels computed the outputs and did not write to the inputs.
//
//   CaseRecord* record = judge_case(
//       run, judge, {request, prepared.cases[i], launched.outputs, output_fd});
//   if (record == nullptr) return;  // the verdict of `run` has the error
//   const CasePlan case_plan{prepared, i, plan, output_fd};
//   check_side_effects(run, judge, session, {case_plan, launched}, *record);
//
// With a GPU, a launch plan contains only kernels, fills and copies, and must launch at least one
// kernel. The kernels in the plan belong to the submission. But the driver or trusted kernels
// perform the copies and casts that the submission requests from torch. A plan with copies or casts
// is therefore launched once more without the submission's kernels, and the judge compares the
// outputs of both launches (harness/judging/attribution.py).
//
// Without a GPU, attribute() makes an equivalent check: a second candidate runs the entry function
// on the same inputs, and its outputs lack the results of its kernels
// (harness/interpreting/interpret.py). The judge compares the outputs of both candidates by the
// same rules.
//
// An operator of the family `layout` only changes the order of elements. So its kernels must do
// this work: copies that the submission requests from torch must not change the order of an
// output's elements (launcher/plan/layout.h).
//
// Use the functions and structs of this file only on the job's thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sandbox/job/job_execution.h"
#include "sandbox/judging/interpreted_cases.h"
#include "sandbox/launch/launching.h"
#include "sandbox/pool/judge.h"
#include "sandbox/record/candidate_run.h"

namespace assay::sandbox {

/// The outputs of one case. The caller owns the members.
struct CaseOutputs {
  const CaseRequest& request;
  const PreparedCase& prepared;
  // The tensors in the file `fd`. Nothing can change them, because the process that wrote them has
  // ended, or because `fd` is a copy of that process's file.
  const std::vector<Argument>& outputs;
  int fd = -1;
  /// If true, the judge keeps a copy of outputs that are in device memory. check_side_effects()
  /// needs the copy.
  bool keep = false;
};

/// Makes the judge compare the outputs, and adds a record to the verdict. Returns that record, or
/// null if the verdict has become an error.
CaseRecord* judge_case(JobExecution& run, Judge& judge, const CaseOutputs& outputs);

/// Returns true if every record that the verdict has so far is a pass.
bool all_right(const Verdict& verdict);

/// Fails a case as `unattributed`: its outputs are right, but the submission's kernels did not
/// compute them.
void not_its_work(Verdict& verdict, CaseRecord& record, std::string reason);

/// Handles a run that should have shown the origin of the outputs of these cases, and that ended
/// with an error instead (`ended`). Without this run, nothing proves that kernels computed the
/// outputs of the ordinary run, so the cases fail as `unattributed`. But an inconclusive error,
/// `not_recordable` or an exceeded limit says nothing about the kernels, so such an error becomes
/// the verdict's error. Returns false if the verdict has become an error.
bool ended_without_kernels(JobExecution& run, const std::vector<std::size_t>& cases,
                           const Verdict& ended);

/// Two runs of the submission in the interpreter. The caller owns both.
struct InterpretedRuns {
  InterpretedCases& full;
  // The run whose outputs lack the results of the kernels. Its errors go to an auxiliary execution
  // of the job.
  InterpretedCases& without;
};

/// Compares the two runs to check that the submission's kernels computed the outputs of these
/// cases. Record i of the verdict belongs to case i. If `last` is true, no other cases follow.
/// Returns false if the verdict has become an error.
bool attribute(JobExecution& run, Judge& judge, const InterpretedRuns& runs,
               const std::vector<std::size_t>& cases, bool last);

/// Returns true if operations other than the submission's kernels may have computed the outputs. In
/// that case the judge must keep the outputs for check_side_effects().
bool has_doubtful_origin(const Launched& launched);

/// Fails the case's record if the launch wrote to an input.
void check_inputs(Verdict& verdict, CaseRecord& record, const Launched& launched);

/// A plan, and the result of launching it. The caller owns both.
struct LaunchedPlan {
  const CasePlan& plan;
  const Launched& launched;
};

/// Fails the case's record if the plan wrote to an input, or if the submission's kernels did not
/// compute the outputs. If the plan has to be launched again without kernels, that launch uses the
/// same autotuner alternatives as `performed`. Returns false if the verdict has become an error.
bool check_side_effects(JobExecution& run, Judge& judge, LaunchSession& session,
                        const LaunchedPlan& performed, CaseRecord& record);

}  // namespace assay::sandbox
