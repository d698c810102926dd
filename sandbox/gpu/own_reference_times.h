// Times the reference of a check on the GPU, as it is ("eager") and compiled by torch.compile.
//
//   time_own_reference(gpu, run);  // after the kernel was timed; `run` holds the GPU exclusively
//
// The reference is untrusted and gets the GPU, so it runs as a submission of the host tier does:
// jailed, and while no other job uses the GPU. Call the function on the job's thread.
#pragma once

#include "sandbox/gpu/gpu_context.h"
#include "sandbox/job/job_execution.h"

namespace assay::sandbox {

/// Adds the times to the records of the timed cases. If there is no time, adds the reason.
void time_own_reference(GpuContext& gpu, JobExecution& run);

}  // namespace assay::sandbox
