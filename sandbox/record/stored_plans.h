// The plans that a job brings along, in the place of a recording.
//
//   std::optional<CandidateResults> results = stored_plans(run, prepared);
//   if (!results) return;                      // run's verdict says why
#pragma once

#include <optional>

#include "sandbox/job/job_execution.h"
#include "sandbox/pool/judge.h"
#include "sandbox/record/candidate_run.h"

namespace assay::sandbox {

/// One plan for each prepared case, in their order, without kernel figures; they are as untrusted
/// as any candidate's. Nothing when a case has none.
std::optional<CandidateResults> stored_plans(JobExecution& run, const PreparedJob& prepared);

}  // namespace assay::sandbox
