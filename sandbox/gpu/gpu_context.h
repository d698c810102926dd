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
#include <optional>
#include <string>

#include "sandbox/gpu/host_tier.h"
#include "sandbox/gpu/scheduler.h"
#include "sandbox/gpu/suite_judges.h"
#include "sandbox/job/config.h"
#include "sandbox/job/job_execution.h"
#include "sandbox/judging/judge_retries.h"
#include "sandbox/pool/launcher_pool.h"
#include "sandbox/pool/lazy_candidate_pool.h"
#include "sandbox/record/recorder.h"
#include "sandbox/timing/timing_session.h"

namespace assay::sandbox {

class GpuContext {
 public:
  /// The device memory for one job in bytes: its inputs, references and outputs, and its share of
  /// the memory that the GPU contexts of the processes take. The number of memory slots is computed
  /// from this size.
  static constexpr std::int64_t kMemorySlotBytes = 10LL << 30;
  /// The time limit of free_memory().
  static constexpr std::int64_t kFreeMemoryMs = 30'000;

  /// Starts the processes and returns without waiting for them.
  GpuContext(const SandboxConfig& config, const CudaOptions& options);
  GpuContext(const GpuContext&) = delete;
  GpuContext& operator=(const GpuContext&) = delete;

  /// Waits until the first launcher has its GPU context. Returns the launcher's report: the figures
  /// of the device and the isolation layers of its jail. Returns nothing if the run's verdict has
  /// become an error.
  std::optional<LauncherReady> wait_until_ready(JobExecution& run);
  /// Returns the judges of the job's operator, and the describer that describes its cases without
  /// making inputs. On a real GPU, the describer has its own judge, which does not use the GPU. So
  /// a job that is only recorded does not wait while inputs of another job are made, and does not
  /// disturb a job that is timed.
  JudgeGroup& judges_of(const Job& job) { return judges.of(job.operator_dir); }
  CaseDescriber& describer(const Job& job) { return judges_of(job).describer(); }
  /// Returns the candidates without the GPU. If the device records nothing itself
  /// (SandboxConfig::records), they start with the first call: the reference of a check is one.
  CandidatePool& candidates() { return candidates_.get(); }
  const LazyCandidatePool& lazy_candidates() const { return candidates_; }
  /// Returns what records the submission of this job. It must be called only if the device records
  /// itself or the job's monitor has a recorder.
  Recorder& recorder(const JobExecution& run) {
    return run.recorder() != nullptr ? *run.recorder() : *own_recorder_;
  }
  /// Frees the device memory that no running job needs: it ends the launchers that are kept for
  /// runs, and the judges give back what they keep.
  void free_memory(const Deadline& deadline);

  const SandboxConfig config;
  const CudaOptions options;
  const std::string name;  // "cuda:0", "hip:0" or "emulated"
  const int jobs;          // maximum number of jobs that the device runs at a time
  GpuScheduler scheduler;
  MeasurementCache measurements;
  Spawner spawner;
  LauncherPool launchers;
  HostTier host;
  SuiteJudges judges;
  JudgeRetries retries;

 private:
  LazyCandidatePool candidates_;
  RecordingFolder recordings_;
  RecordingCache submissions_, oracles_;
  std::optional<LocalRecorder> own_recorder_;  // if SandboxConfig::records is true
};

}  // namespace assay::sandbox
