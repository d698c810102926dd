// Provides what the tests of the CPU device share: one device, and a submission that passes.
#pragma once

#include <memory>
#include <string>

#include "sandbox/device/cpu.h"
#include "tests/catch.h"
#include "tests/sandbox/device/device_fixture.h"

namespace assay::sandbox::testing {

inline Device& cpu() {
  static const std::unique_ptr<Device> device = make_cpu_device(real_config());
  return *device;
}

inline Verdict run_on_cpu(const Job& job) {
  JobMonitor monitor;
  Verdict verdict = cpu().execute(job, monitor);
  INFO(verdict.summary << "\nstderr: " << verdict.stderr_text);
  CHECK(verdict.outcome == verdict.outcome);
  return verdict;
}

inline Job test_job(const std::string& source) {
  Job job = vector_add(JobKind::test, source);
  job.limits.import_wall_ms = 4'000;
  job.limits.run_wall_ms = 4'000;
  return job;
}

inline const std::string kGood = R"(import torch, triton, triton.language as tl
@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)
def vector_add(x, y):
    z = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=512)
    return z
)";

}  // namespace assay::sandbox::testing
