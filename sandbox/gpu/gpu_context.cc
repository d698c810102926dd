#include "sandbox/gpu/gpu_context.h"

#include <algorithm>
#include <utility>

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

/// Returns what the candidates of the host tier may use. The fake driver has no device files.
GpuAccess host_access(const CudaOptions& options) {
  const bool real = options.driver == "cuda" || options.driver == "hip";
  return real ? gpu_access(device_name(options)).value_or(GpuAccess{})
              : GpuAccess{.index = options.index, .ordinal = 0, .devices = {}};
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

JudgeSettings judge_settings(const SandboxConfig& config, const CudaOptions& options,
                             const std::string& name) {
  return {.device = options.judge_device.empty() ? name : options.judge_device,
          .limits = judge_limits(judge_count(config, options)),
          .describes = !has_test_judge(options)};
}

}  // namespace

GpuContext::GpuContext(const SandboxConfig& sandbox_config, const CudaOptions& cuda_options)
    : config(sandbox_config),
      options(cuda_options),
      name(device_name(options)),
      jobs(job_count(config)),
      scheduler({.sharers = config.gpu_sharers, .device = name}),
      launchers(config, spawner, options.index, options.driver),
      host(config, spawner, host_access(options)),
      judges(config, spawner, judge_settings(config, options, name)),
      candidates_(with_yielding_candidates(config), spawner),
      recordings_(config, RecordingFolder::kMaxBytes),
      submissions_(kRecordingCacheBytes),
      oracles_(kRecordingCacheBytes, &recordings_) {
  if (config.records)
    own_recorder_.emplace(candidates_.get(), LocalRecorder::Caches{submissions_, oracles_});
}

void GpuContext::free_memory(const Deadline& deadline) {
  // If a launcher does not end in time, the only harm is that its memory stays in use.
  (void)launchers.end_those_of_runs(deadline);
  judges.free_memory(deadline);
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
