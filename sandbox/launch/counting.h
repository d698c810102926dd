// Hardware counters of a plan's kernels: the plan is launched once more, on the same inputs, by a
// launcher that runs inside Nsight Compute inside a jail.
//
//   Result<std::vector<KernelCounters>> counters = count_kernels(run, {config, spawner, 0, "cuda"},
//   prepared, plan, output_file, artifacts);
//
// The caller has the GPU alone. What goes wrong is an error of this and not of the job. Belongs to
// the job's thread.
#pragma once

#include <string>
#include <vector>

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

}  // namespace assay::sandbox
