#include "sandbox/gpu/gpu_context.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "sandbox/jail/amd_nodes.h"
#include "sandbox/jail/gpu_nodes.h"

namespace assay::sandbox {
namespace {

constexpr std::int64_t kRecordingCacheBytes = 64 << 20;  // enough for about a thousand plans
constexpr std::int64_t kStartMs = 30'000;

/// Returns true if the judge works on the CPU instead of the GPU. That is so only in tests and for
/// the emulated device, and they have a single judge.
bool has_test_judge(const CudaOptions& options) { return options.judge_device == "cpu"; }

/// Returns the configuration for candidates without a GPU. Such candidates mostly compile, so they
/// run at low CPU priority and do not slow down the job that uses the GPU.
SandboxConfig with_yielding_candidates(SandboxConfig config) {
  config.candidates_yield = true;
  return config;
}

/// Returns the name by which a user knows the device.
std::string device_name(const CudaOptions& options) {
  if (options.driver == "emulated") return options.driver;
  return (options.driver == "hip" ? "hip:" : "cuda:") + std::to_string(options.index);
}

/// Returns the device files that CUDA opens for this GPU, if they exist on this machine.
GpuAccess gpu_access(const CudaOptions& options) {
  GpuAccess access{.index = options.index, .ordinal = 0, .devices = {}};
  if (options.driver == "hip") access.devices = amd_device_files();
  if (options.driver != "cuda") return access;
  const std::string node = gpu_node(options.index).value_or("");
  access.ordinal = gpu_ordinal(node).value_or(0);
  for (const std::string& path :
       {std::string("/dev/nvidiactl"), std::string("/dev/nvidia-uvm"), node}) {
    if (::access(path.c_str(), F_OK) == 0) access.devices.push_back(path);
  }
  return access;
}

/// Returns the maximum number of jobs at a time. A job keeps its candidates while it waits for a
/// judge or for its turn to compile. So the pool must have enough candidates for all jobs;
/// otherwise jobs could wait for each other. A check keeps one more, which executes its reference.
int job_count(const SandboxConfig& config) {
  if (!config.records) return std::max({config.gpu_jobs, config.gpu_sharers, 1});
  const int each = std::max(config.recorders, 1) + 1;
  const int most = (CandidatePool::kSlots - config.parked_candidates) / each;
  return std::clamp(std::max(config.gpu_jobs, config.gpu_sharers), 1, std::max(most, 1));
}

int judge_count(const SandboxConfig& config, const CudaOptions& options) {
  return has_test_judge(options) ? 1 : std::max(config.judges, 1);
}

/// A quarter of the judges loads no new operators.
JudgeQueue::Limits judge_limits(int judges) {
  return {.judges = judges, .loaders = std::max(1, judges - judges / 4)};
}

std::vector<std::unique_ptr<Judge>> start_judges(const SandboxConfig& config, Spawner& spawner,
                                                 const CudaOptions& options,
                                                 const std::string& name) {
  std::vector<std::unique_ptr<Judge>> judges;
  const std::string& device = options.judge_device.empty() ? name : options.judge_device;
  for (int i = 0; i < judge_count(config, options); ++i)
    judges.push_back(std::make_unique<Judge>(config, spawner, device, i));
  return judges;
}

}  // namespace

GpuContext::GpuContext(const SandboxConfig& sandbox_config, const CudaOptions& cuda_options)
    : config(sandbox_config),
      options(cuda_options),
      name(device_name(options)),
      jobs(job_count(config)),
      scheduler({.sharers = config.gpu_sharers}),
      judge_queue(judge_limits(judge_count(config, options))),
      launchers(config, spawner, options.index, options.driver),
      host(config, spawner, gpu_access(options)),
      judges(start_judges(config, spawner, options, name)),
      candidates_(with_yielding_candidates(config), spawner),
      submissions_(kRecordingCacheBytes),
      oracles_(kRecordingCacheBytes),
      describer_(has_test_judge(options) ? *judges.front()
                                         : shape_judge_.emplace(config, spawner, "cpu")) {
  if (config.records)
    own_recorder_.emplace(candidates_.get(), LocalRecorder::Caches{submissions_, oracles_});
}

std::optional<LauncherReady> GpuContext::wait_until_ready(JobExecution& run) {
  Result<LauncherReady> ready = launchers.ready(run.deadline(kStartMs));
  if (!ready) {
    const std::optional<std::string> error = launchers.last_start_error();
    if (error && ready.error().code != ErrorCode::cancelled)
      run.fail(ErrorKind::device_unhealthy, name + ": " + *error);
    else
      run.fail_infrastructure(ready.error(), "starting device " + name);
    return std::nullopt;
  }
  scheduler.set_memory_slots(static_cast<int>(std::clamp<std::int64_t>(
      ready->device.memory_bytes / kMemorySlotBytes, config.gpu_sharers, jobs)));
  return std::move(*ready);
}

}  // namespace assay::sandbox
