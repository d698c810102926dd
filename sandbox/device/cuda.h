// The CUDA device. On the plan tier a candidate without a GPU records the launches of the
// submission, the trusted launcher performs them on inputs that the submission never saw, and the
// judge compares. Profile and grade jobs are timed together with the operator's reference.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/job/device.h"

namespace assay::sandbox {

/// Starts the processes and returns without waiting for them; the first job waits. Errors:
/// unavailable, if there is no such GPU.
Result<std::unique_ptr<Device>> make_cuda_device(const SandboxConfig& config,
                                                 const CudaOptions& options);

}  // namespace assay::sandbox
