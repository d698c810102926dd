#include "sandbox/launch/counting.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "sandbox/launch/launching.h"
#include "sandbox/launch/ncu_report.h"

namespace assay::sandbox {
namespace {

constexpr std::int64_t kCountersWallMs =
    60'000;  // of ncu from its start to its report: each kernel is run some ten times

}  // namespace

Result<std::vector<KernelCounters>> count_kernels(JobExecution& run, const CounterTool& tool,
                                                  const PreparedJob& prepared,
                                                  const std::string& plan, int output_fd) {
  if (tool.config.ncu.empty())
    return fail(ErrorCode::unavailable,
                "Nsight Compute (ncu) is not on this machine; --ncu names it");
  const Deadline deadline = run.deadline(kCountersWallMs);
  Result<std::unique_ptr<LauncherClient>> launcher = LauncherClient::start(
      tool.config, tool.spawner, tool.device, tool.driver, deadline, tool.config.ncu);
  if (!launcher) return fail(launcher.error());
  const LaunchFiles files =
      launch_files({}, prepared, 0, output_fd, run.job().limits.gpu_memory_bytes);
  Result<LaunchOutcome> outcome = (*launcher)->launch(files.request, plan, files.fds, deadline);
  if (!outcome) return fail(outcome.error());
  if (const auto* failure = std::get_if<LaunchFailure>(&*outcome))
    return fail(ErrorCode::unavailable, "the plan did not run under ncu: " + failure->message);
  Result<std::string> report = (*launcher)->finish(deadline);
  if (!report) return fail(report.error());
  Result<std::vector<KernelCounters>> counters = read_ncu_report(*report, run.verdict().kernels);
  if (counters)
    run.verdict().artifacts.push_back({"counters", prepared.cases.front().id, std::move(*report)});
  return counters;
}

}  // namespace assay::sandbox
