// The CUDA device runs jobs on a GPU. On the plan tier, a candidate process without access to the
// GPU records the submission's launches into a launch plan. The trusted launcher performs the plan
// on inputs that the submission has never seen, and the judge checks the outputs. In profile and
// grade jobs the submission is timed together with the operator's oracle.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/job/device.h"

namespace assay::sandbox {

/// Starts the device's processes and returns without waiting for them. The first job waits for
/// them. Errors: unavailable if there is no such GPU.
Result<std::unique_ptr<Device>> make_cuda_device(const SandboxConfig& config,
                                                 const CudaOptions& options);

}  // namespace assay::sandbox
