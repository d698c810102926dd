// What a measured latency says against the physics floor of its case: which resource bounds it, and how much of the roofline it reaches.
//
//   "memory-bound: 79 % of the roofline (least traffic 302 MB, least work 0.0252 GFLOP, floor 62.9 us, measured 79.4 us: 3803 GB/s, 0.3 TFLOP/s)"
#pragma once

#include <string>

#include "sandbox/job.h"
#include "sandbox/pool/messages.h"

namespace assay::sandbox {

/// One sentence for an agent. Empty without a latency and a floor. Pure function.
std::string diagnosis(const LauncherDevice& device, const CaseRecord& record);

}  // namespace assay::sandbox
