// Attribution: outputs that are right count only when the submission's own kernels made them.
//
//   if (all_right(run.verdict())) attribute(run, pool, judge, job, prepared, request, outputs,
//   results);
//
// Without a GPU: a second candidate runs the entry on the same inputs with launches that do nothing
// (harness/interpreting/ablation.py), and the judge compares (harness/judging/attribution.py). With
// a GPU a launch plan holds nothing but kernels, fills and copies; it has to launch a kernel.
#pragma once

#include <string>
#include <vector>

#include "sandbox/pool/judge.h"
#include "sandbox/record/candidate_run.h"

namespace assay::sandbox {

/// Every case so far has a passing record.
bool all_right(const Verdict& verdict);

/// The case's outputs are right, and not the submission's work: fails it as `unattributed`.
void not_its_work(Verdict& verdict, CaseRecord& record, std::string reason);

/// `request`: what the first candidate was sent; `outputs` and `results`: what came of it. False
/// when the verdict has become an error.
bool attribute(JobExecution& run, CandidatePool& pool, Judge& judge, const PreparedJob& prepared,
               const CandidateJob& request, const std::vector<UniqueFd>& outputs,
               const CandidateResults& results);

}  // namespace assay::sandbox
