// Reads hardware counters of a plan's kernels. Nsight Compute (ncu), or AMD's rocprofv3, runs in a
// jail and starts a launcher. The launcher performs the plan once more on the same inputs. Then the
// counters of each kernel are read from the report.
//
//   const CounterTool tool{config, spawner, 0, "cuda"};
//   Result<std::vector<KernelCounters>> counters =
//       count_kernels(run, tool, prepared, plan, output_fd);
//
// The caller holds the GPU exclusively. A failure is an error of the profile and not of the job.
// Call count_kernels() only on the job's thread.
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
  double bytes_per_s = 0;  // the peak bandwidth of the device's memory; only rocprofv3 needs it
};

/// Returns the counters of the kernels that the verdict reports, for the first case of `prepared`.
/// Adds the report to the verdict's artifacts. Errors: unavailable if the profiler or its report is
/// missing; permission_denied if the driver refuses counters; resource_exhausted after
/// kCountersWallMs.
Result<std::vector<KernelCounters>> count_kernels(JobExecution& run, const CounterTool& tool,
                                                  const PreparedJob& prepared,
                                                  const std::string& plan, int output_fd);

/// Parses ncu's report (CSV, page raw, base units). Returns the counters of the kernels in
/// `wanted`, in the same order. Kernels that the report does not contain are left out. If a kernel
/// has several launches, its counters are those of the longest launch. Lines that begin with == are
/// messages of ncu and are skipped. This function is pure. `text` is untrusted. Errors: unavailable
/// if there is no report, and the message contains ncu's messages; permission_denied if the driver
/// refuses counters.
Result<std::vector<KernelCounters>> read_ncu_report(std::string_view text,
                                                    const std::vector<KernelReport>& wanted);

}  // namespace assay::sandbox
