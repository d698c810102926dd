// The CUDA device, plan tier: a candidate without a GPU records what the submission would launch, the trusted launcher performs it on inputs that the
// submission never saw, the judge compares. Profile and grade jobs are timed, and the operator's oracle beside them in the same way.
#pragma once

#include <memory>
#include <string>

#include "sandbox/device/device.h"

namespace assay::sandbox {

struct CudaOptions {
  int index = 0;
  std::string driver = "cuda";  // of the launcher; "fake" in tests
  std::string judge_device;     // empty: the same GPU; "cpu" in tests
};

/// Returns at once; launcher, pool and judge warm up behind, and the first job waits for them. Errors: unavailable, when there is no such GPU.
Result<std::unique_ptr<Device>> make_cuda_device(const SandboxConfig& config, const CudaOptions& options);

}  // namespace assay::sandbox
