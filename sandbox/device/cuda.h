// The CUDA device, plan tier: a candidate without a GPU records what the submission would launch,
// the trusted launcher performs it on inputs that the submission never saw, the judge compares.
// Profile and grade jobs are timed, and the operator's oracle beside them in the same way.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/job/device.h"

namespace assay::sandbox {

/// Returns at once; launcher, pool and judge warm up behind, and the first job waits for them.
/// Errors: unavailable, when there is no such GPU.
Result<std::unique_ptr<Device>> make_cuda_device(const SandboxConfig& config,
                                                 const CudaOptions& options);

}  // namespace assay::sandbox
