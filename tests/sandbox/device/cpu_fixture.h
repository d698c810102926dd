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
  UNSCOPED_INFO(verdict.summary << "\n" << verdict.detail << "\n" << verdict.stderr_text);
  return verdict;
}

/// A test job with the default time limits. Only a submission that must run into its limit gets a
/// short one, because a machine that is busy with other tests can take seconds for a good one.
inline Job test_job(const std::string& source) { return vector_add(JobKind::test, source); }

inline Limits short_limits() {
  Limits limits;
  limits.import_wall_ms = 4'000;
  limits.run_wall_ms = 4'000;
  return limits;
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
