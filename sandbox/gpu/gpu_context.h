// GpuContext owns everything that the jobs of one GPU share: the scheduler, the queue for the
// judges, the processes (judges, launchers, candidates) and the caches.
//
//   GpuContext gpu(config, {.index = 0, .driver = "cuda", .judge_device = ""});
//   std::optional<LauncherReady> ready = gpu.wait_until_ready(run);
//   if (ready) GpuJob(gpu, ready->device, run).execute();
//
// Each member is thread-safe, and no member is replaced after construction. The figures of the
// device (DeviceFacts) are known only after a launcher has started. So they are not a member, and
// each job gets a copy.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/gpu/host_tier.h"
#include "sandbox/gpu/judge_queue.h"
#include "sandbox/gpu/scheduler.h"
#include "sandbox/job/config.h"
#include "sandbox/job/job_execution.h"
#include "sandbox/pool/judge.h"
#include "sandbox/pool/launcher_pool.h"
#include "sandbox/pool/lazy_candidate_pool.h"
#include "sandbox/record/case_describer.h"
#include "sandbox/record/recorder.h"
#include "sandbox/timing/timing_session.h"

namespace assay::sandbox {

class GpuContext {
 public:
  /// The device memory for one job in bytes: its inputs, references and outputs, and its share of
  /// the memory that the GPU contexts of the processes take. The number of memory slots is computed
  /// from this size.
  static constexpr std::int64_t kMemorySlotBytes = 10LL << 30;

  /// Starts the processes and returns without waiting for them.
  GpuContext(const SandboxConfig& config, const CudaOptions& options);
  GpuContext(const GpuContext&) = delete;
  GpuContext& operator=(const GpuContext&) = delete;

  /// Waits until the first launcher has its GPU context. Returns the launcher's report: the figures
  /// of the device and the isolation layers of its jail. Returns nothing if the run's verdict has
  /// become an error.
  std::optional<LauncherReady> wait_until_ready(JobExecution& run);
  /// Returns the describer, which describes cases without making inputs. On a real GPU, the
  /// describer has its own judge, which does not use the GPU. So a job that is only recorded does
  /// not wait while inputs of another job are made, and does not disturb a job that is timed.
  CaseDescriber& describer() { return describer_; }
  /// Returns the candidates without the GPU. If the device records nothing itself
  /// (SandboxConfig::records), they start with the first call: the reference of a check is one.
  CandidatePool& candidates() { return candidates_.get(); }
  const LazyCandidatePool& lazy_candidates() const { return candidates_; }
  /// Returns what records the submission of this job. It must be called only if the device records
  /// itself or the job's monitor has a recorder.
  Recorder& recorder(const JobExecution& run) {
    return run.recorder() != nullptr ? *run.recorder() : *own_recorder_;
  }

  const SandboxConfig config;
  const CudaOptions options;
  const std::string name;  // "cuda:0", "hip:0" or "emulated"
  const int jobs;          // maximum number of jobs that the device runs at a time
  GpuScheduler scheduler;
  JudgeQueue judge_queue;
  MeasurementCache measurements;
  Spawner spawner;
  LauncherPool launchers;
  HostTier host;
  // The judges. JudgeQueue::Turn::judge() returns an index into this list.
  const std::vector<std::unique_ptr<Judge>> judges;

 private:
  LazyCandidatePool candidates_;
  RecordingCache submissions_, oracles_;
  std::optional<LocalRecorder> own_recorder_;  // if SandboxConfig::records is true
  std::optional<Judge> shape_judge_;
  CaseDescriber describer_;
};

}  // namespace assay::sandbox
