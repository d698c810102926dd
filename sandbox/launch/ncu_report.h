// Nsight Compute's report (CSV, page raw, base units) as counters by kernel.
//
//   Result<std::vector<KernelCounters>> counters = read_ncu_report(text, kernels);
//
// What ncu prints besides (lines that begin with ==) is skipped, unless there is no report: then
// its error is ours. A kernel that was launched several times is reported by its longest launch.
// Pure function, for text of any content.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/job/job.h"

namespace assay::sandbox {

/// Of the kernels that `wanted` names, in its order. Errors: unavailable with the reason,
/// permission_denied where the driver keeps counters from users.
Result<std::vector<KernelCounters>> read_ncu_report(std::string_view text,
                                                    const std::vector<KernelReport>& wanted);

}  // namespace assay::sandbox
