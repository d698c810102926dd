// Has the judge compare one case's outputs and adds its record to the verdict.
//
// Attribution: outputs that are right count only when the submission's own kernels made them.
//
//   if (all_right(run.verdict())) attribute(run, pool, judge, job, prepared, request, outputs,
//   results);
//
// Without a GPU: a second candidate runs the entry on the same inputs with launches that do nothing
// (harness/interpreting/ablation.py), and the judge compares (harness/judging/attribution.py). With
// a GPU a launch plan holds nothing but kernels, fills and copies; it has to launch a kernel.
//
// What a launch plan did besides giving the right answer: it may write only to its outputs, and the
// answer has to be its own kernels' work.
//
//   Result<Compared> ... is right;
//   if (!check_side_effects(run, judge, session, prepared, i, plan, launched, output_fd)) return;
//   // the verdict has become an error
//
// Kernels of a plan can only be the submission's, but copies and casts are performed for torch, by
// the driver or by kernels of ours. A plan that has such is launched once more without the
// submission's kernels, and the judge compares, by the rules that hold without a GPU
// (harness/judging/attribution.py).
#pragma once

#include <string>
#include <vector>

#include "sandbox/job/job_execution.h"
#include "sandbox/launch/launching.h"
#include "sandbox/pool/judge.h"
#include "sandbox/record/candidate_run.h"

namespace assay::sandbox {

/// `outputs` describe tensors in `output_fd`; whoever wrote them is dead or done. Returns the
/// record in the verdict, or null when the judge could not answer: the verdict then says why.
/// `keep`: the judge is going to be asked whose work outputs on the device are.
CaseRecord* judge_case(JobExecution& run, Judge& judge, const CaseRequest& request,
                       const PreparedCase& prepared, const std::vector<Argument>& outputs,
                       int output_fd, bool keep = false);

/// Every case so far has a passing record.
bool all_right(const Verdict& verdict);

/// The case's outputs are right, and not the submission's work: fails it as `unattributed`.
void not_its_work(Verdict& verdict, CaseRecord& record, std::string reason);

/// `request`: what the first candidate was sent; `outputs` and `results`: what came of it. False
/// when the verdict has become an error.
bool attribute(JobExecution& run, CandidatePool& pool, Judge& judge, const PreparedJob& prepared,
               const CandidateJob& request, const std::vector<UniqueFd>& outputs,
               const CandidateResults& results);

/// Whether the judge has to keep this launch's outputs, for check_side_effects() to compare with.
bool has_doubtful_origin(const Launched& launched);

/// Fails the case's record where its plan misbehaved. False when the verdict has become an error.
bool check_side_effects(JobExecution& run, Judge& judge, LaunchSession& session,
                        const PreparedJob& prepared, std::size_t index, const std::string& plan,
                        const Launched& launched, int output_fd, CaseRecord& record);

}  // namespace assay::sandbox
