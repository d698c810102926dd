// The early check finds errors of a submission before a judge makes inputs for it. A judge may take
// seconds to make inputs, and most submissions that fail do so while they are imported or compiled.
// Only operators whose launches depend on values of inputs need this check, because submissions for
// other operators are recorded before inputs are made. If the describer (CaseDescriber) has kept
// values from an earlier job of the operator, the check records the public cases with these values.
// Otherwise the check only imports the submission.
//
//   if (!passes_early_check(gpu, facts.target, run)) return;  // the verdict of `run` has the error
//
// Call this function only on the job's thread.
#pragma once

#include <string>

#include "sandbox/gpu/gpu_context.h"
#include "sandbox/job/job_execution.h"

namespace assay::sandbox {

/// Returns false if the verdict has become an error. A submission that cannot be recorded passes,
/// because it may run on the host tier. A submission also passes if an infrastructure error or a
/// cancellation ends its check.
bool passes_early_check(GpuContext& gpu, const std::string& target, JobExecution& run);

}  // namespace assay::sandbox
