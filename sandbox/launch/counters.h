// Hardware counters of a plan's kernels: the plan is launched once more, on the same inputs, by a
// launcher that runs inside Nsight Compute inside a jail.
//
//   Result<std::vector<KernelCounters>> counters = count_kernels(run, {config, spawner, 0, "cuda"},
//   prepared, plan, output_file, artifacts);
//
// The caller has the GPU alone. What goes wrong is an error of this and not of the job. Belongs to
// the job's thread.
//
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
#include "sandbox/job/job_execution.h"
#include "sandbox/pool/judge.h"
#include "sandbox/pool/launcher_client.h"

namespace assay::sandbox {

struct CounterTool {
  const SandboxConfig& config;
  Spawner& spawner;
  int device = 0;
  std::string driver;
};

/// Of the first case of `prepared`, for the kernels that the verdict reports. Adds ncu's report to
/// the verdict's artifacts. Errors: unavailable without ncu or its report, permission_denied where
/// the driver refuses, resource_exhausted past kCountersWallMs.
Result<std::vector<KernelCounters>> count_kernels(JobExecution& run, const CounterTool& tool,
                                                  const PreparedJob& prepared,
                                                  const std::string& plan, int output_fd);

/// Of the kernels that `wanted` names, in its order. Errors: unavailable with the reason,
/// permission_denied where the driver keeps counters from users.
Result<std::vector<KernelCounters>> read_ncu_report(std::string_view text,
                                                    const std::vector<KernelReport>& wanted);

}  // namespace assay::sandbox
