// Judges a case: has the judge compare its outputs, and checks that the submission's own kernels
// made them and wrote nowhere else.
//
//   CaseRecord* record = judge_case(
//       run, judge, {request, prepared.cases[i], launched.outputs, output_fd});
//   if (record == nullptr) return;  // the verdict of `run` has the error
//   const CasePlan case_plan{prepared, i, plan, output_fd};
//   check_side_effects(run, judge, session, {case_plan, launched}, *record);
//
// With a GPU, a launch plan contains only kernels, fills and copies, and it has to launch a kernel.
// Its kernels are the submission's, but copies and casts are performed for torch, by the driver or
// by trusted kernels. A plan with copies or casts is launched once more without the submission's
// kernels, and the judge compares the outputs of both launches (harness/judging/attribution.py).
//
// Without a GPU, attribute() does the same: a second candidate runs the entry on the same inputs,
// and its outputs lack the results of its kernels (harness/interpreting/interpret.py). The judge
// compares by the same rules.
//
// For an operator of family `layout`, the order of the elements is the whole work. There, copies in
// place of torch's may not change the order on the way to an output (launcher/plan/layout.h).
//
// Everything here belongs to the job's thread.
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

/// The outputs of one case. Borrows everything.
struct CaseOutputs {
  const CaseRequest& request;
  const PreparedCase& prepared;
  // Tensors in `fd`. The process that wrote them has ended, or `fd` is a copy.
  const std::vector<Argument>& outputs;
  int fd = -1;
  /// The judge keeps outputs on the device, because check_side_effects() compares with them.
  bool keep = false;
};

/// Has the judge compare the outputs and adds the record to the verdict. Returns that record, or
/// null when the verdict has become an error.
CaseRecord* judge_case(JobExecution& run, Judge& judge, const CaseOutputs& outputs);

/// Returns true if every record so far is a pass.
bool all_right(const Verdict& verdict);

/// Fails a case as `unattributed`: its outputs are right, but the submission's kernels did not make
/// them.
void not_its_work(Verdict& verdict, CaseRecord& record, std::string reason);

/// Two runs of the submission in the interpreter. Borrows everything.
struct InterpretedRuns {
  InterpretedCases& full;
  InterpretedCases& without;  // launches do nothing; it reports to an auxiliary run
};

/// Checks that the submission's kernels made the outputs of these cases, by a run without
/// their results. Record i of the verdict is that of case i. With `last`, no other cases follow.
/// Returns false when the verdict has become an error.
bool attribute(JobExecution& run, Judge& judge, const InterpretedRuns& runs,
               const std::vector<std::size_t>& cases, bool last);

/// Returns true if operations other than the submission's kernels may have made the outputs. Then
/// the judge has to keep them for check_side_effects().
bool has_doubtful_origin(const Launched& launched);

/// Fails the case's record if the launch wrote to an input.
void check_inputs(Verdict& verdict, CaseRecord& record, const Launched& launched);

/// A plan and the result of launching it. Borrows both.
struct LaunchedPlan {
  const CasePlan& plan;
  const Launched& launched;
};

/// Fails the case's record if its plan wrote to an input, or if its kernels did not make the
/// outputs. The launch without kernels uses the same alternatives as the launch of `performed`.
/// Returns false when the verdict has become an error.
bool check_side_effects(JobExecution& run, Judge& judge, LaunchSession& session,
                        const LaunchedPlan& performed, CaseRecord& record);

}  // namespace assay::sandbox
