// Provides a GPU whose scheduler, launchers and caches a test can access, and which runs one job
// without the device around it. The launchers run the fake driver.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sandbox/gpu/gpu_context.h"
#include "sandbox/gpu/gpu_job.h"
#include "sandbox/job/verdict_builder.h"
#include "tests/sandbox/device/cuda_fixture.h"

namespace assay::sandbox::testing {

/// The longest time that one thread waits for another thread.
inline Deadline for_another_thread() { return Deadline::after_ms(60'000); }

/// A GPU whose scheduler the test can access.
class SharedGpu {
 public:
  explicit SharedGpu(const SandboxConfig& config)
      : context_(config, {.index = 0, .driver = "fake", .judge_device = "cpu"}) {}

  GpuContext& context() { return context_; }
  GpuScheduler& scheduler() { return context_.scheduler; }
  JudgeQueue& judge_queue() { return context_.judges.of("").queue; }
  int jobs() const { return context_.jobs; }

  Verdict execute(const Job& job, JobMonitor& monitor) {
    JobExecution run(job, monitor);
    std::vector<std::string> required;
    if (const std::optional<LauncherReady> ready = context_.wait_until_ready(run)) {
      GpuJob(context_, ready->device, run).execute();
      for (const CaseRequest& one : job.cases) required.push_back(one.id);
    }
    conclude(run.verdict(), required);
    return run.finish();
  }

 private:
  GpuContext context_;
};

}  // namespace assay::sandbox::testing
