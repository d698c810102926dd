// A CUDA device, in the plan tier: a jailed candidate without a GPU records launch plans, a launcher performs them, the judge compares.
#pragma once

#include <memory>

#include "base/result.h"
#include "sandbox/device/device.h"

namespace assay::sandbox {

/// Device `index` of this machine. Starts warming up pool, judge and launcher. unavailable: there is no such device; the message says what is.
Result<std::unique_ptr<Device>> make_cuda_device(int index, const SandboxConfig& config);

}  // namespace assay::sandbox
