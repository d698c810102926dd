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

#include "sandbox/job/job_execution.h"
#include "sandbox/launch/launching.h"
#include "sandbox/pool/judge.h"

namespace assay::sandbox {

/// Whether the judge has to keep this launch's outputs, for check_side_effects() to compare with.
bool has_doubtful_origin(const Launched& launched);

/// Fails the case's record where its plan misbehaved. False when the verdict has become an error.
bool check_side_effects(JobExecution& run, Judge& judge, LaunchSession& session,
                        const PreparedJob& prepared, std::size_t index, const std::string& plan,
                        const Launched& launched, int output_fd, CaseRecord& record);

}  // namespace assay::sandbox
