// Checks a submission before a judge makes inputs for it, if its cases cannot be described without
// values. Inputs of such an operator can take a judge seconds, and most submissions that fail do so
// while they are imported or compiled. If values of an earlier job are kept, the public cases are
// recorded for these values. Otherwise the submission is only imported.
//
//   if (!passes_early_check(gpu, facts.target, run)) return;  // the verdict of `run` has the error
//
// Call this function only on the job's thread.
#pragma once

#include <string>

#include "sandbox/gpu/gpu_context.h"
#include "sandbox/job/job_execution.h"

namespace assay::sandbox {

/// Returns false if the verdict has become an error, which costs neither inputs nor the GPU. A
/// submission that cannot be recorded passes, because it may run on the host tier. So does a
/// submission whose check ended without evidence against it.
bool passes_early_check(GpuContext& gpu, const std::string& target, JobExecution& run);

}  // namespace assay::sandbox
