// Uses the launch plans that a job brings along instead of a recording.
//
//   std::optional<CandidateResults> results = stored_plans(run, prepared);
//   if (!results) return;  // run's verdict says why
//
// Belongs to the job's thread.
#pragma once

#include <optional>

#include "sandbox/job/job_execution.h"
#include "sandbox/pool/judge.h"
#include "sandbox/record/candidate_run.h"

namespace assay::sandbox {

/// Returns one plan for each prepared case, in their order, without kernel figures. The plans are
/// as untrusted as a candidate's. Returns nothing when a case has no plan.
std::optional<CandidateResults> stored_plans(JobExecution& run, const PreparedJob& prepared);

}  // namespace assay::sandbox
