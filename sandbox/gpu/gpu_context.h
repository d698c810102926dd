// GpuContext owns everything that the jobs of one GPU share: the scheduler, the processes (judges,
// launchers, candidates) and the caches.
//
//   GpuContext gpu(config, {.index = 0, .driver = "cuda", .judge_device = ""});
//   std::optional<LauncherReady> ready = gpu.wait_until_ready(run);
//   if (ready) GpuJob(gpu, ready->device, run).execute();
//
// Each member is thread-safe, and no member is replaced after construction. The figures of the
// device (DeviceFacts) are known only after a launcher has started. They are no member: each job
// gets a copy.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/gpu/host_tier.h"
#include "sandbox/gpu/scheduler.h"
#include "sandbox/job/config.h"
#include "sandbox/job/job_execution.h"
#include "sandbox/pool/candidate_pool.h"
#include "sandbox/pool/judge.h"
#include "sandbox/pool/launcher_pool.h"
#include "sandbox/record/recording_cache.h"
#include "sandbox/timing/timing_session.h"

namespace assay::sandbox {

class GpuContext {
 public:
  /// Device memory that one job needs: inputs, references, outputs and its part of the contexts.
  /// The number of memory slots follows from it.
  static constexpr std::int64_t kMemorySlotBytes = 10LL << 30;

  /// Starts the processes and returns without waiting for them.
  GpuContext(const SandboxConfig& config, const CudaOptions& options);
  GpuContext(const GpuContext&) = delete;
  GpuContext& operator=(const GpuContext&) = delete;

  /// Waits until the first launcher has its context, and returns what it reported: the figures of
  /// the device and the layers of its jail. Returns nothing when the run's verdict has become an
  /// error.
  std::optional<LauncherReady> wait_until_ready(JobExecution& run);
  /// Returns a judge for jobs that need shapes only. With a real GPU this judge has no GPU, so a
  /// job that compiles neither waits for the inputs of another job nor disturbs a job that is
  /// timed.
  Judge& shape_judge() { return shape_judge_ ? *shape_judge_ : *judges.front(); }

  const SandboxConfig config;
  const CudaOptions options;
  const std::string name;  // "cuda:0"
  const int jobs;          // that the device takes at a time
  GpuScheduler scheduler;
  RecordingCache submissions;
  RecordingCache references;  // separate, so that no submission displaces a reference
  MeasurementCache measurements;
  Spawner spawner;
  LauncherPool launchers;
  CandidatePool candidates;  // without the GPU
  HostTier host;
  const std::vector<std::unique_ptr<Judge>> judges;  // GpuScheduler::assign_judge() gives the index

 private:
  std::optional<Judge> shape_judge_;
};

}  // namespace assay::sandbox
