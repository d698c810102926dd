// Replays plans on the fake driver, with two inputs of kN floats each and memory for outputs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sandbox/launcher/driver/fake_driver.h"
#include "sandbox/launcher/replay/replay.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_samples.h"

namespace assay::sandbox::test {

inline constexpr std::uint32_t kN = 1000;
inline constexpr std::uint64_t kPlenty = 1 << 28;

inline std::span<const std::byte> bytes_of(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

struct Bench {
  Bench() {
    add_fake_kernels(gpu);
    for (std::uint32_t i = 0; i < kN; ++i) {
      x.push_back(static_cast<float>(i));
      y.push_back(static_cast<float>(2 * i) + 0.5f);
    }
    request.gpu_memory_bytes = kPlenty;
  }
  LaunchResult<Launched> run(const Plan& plan) { return run(plan, gpu); }
  LaunchResult<Launched> run(const Plan& plan, FakeDriver& driver) {
    HostBuffers buffers(driver, {{"x", bytes_of(x)}, {"y", bytes_of(y)}},
                        std::as_writable_bytes(std::span(out)));
    return replay(driver, plan, buffers, request, clock);
  }
  void check_sum() const {
    for (std::uint32_t i = 0; i < kN; ++i) REQUIRE(out[i] == x[i] + y[i]);
  }
  void check_clean() {
    CHECK(gpu.allocated_bytes() == 0);
    CHECK(gpu.loaded_kernels() == 0);
  }

  FakeDriver gpu;
  SystemClock clock;
  std::vector<float> x, y;
  std::vector<float> out = std::vector<float>(4 * kN, -7.0f);
  ReplayRequest request;
};

/// Returns a plan for x = x + x in place. If it runs again without a refill of the inputs, the
/// outputs differ.
inline Plan doubling_plan() {
  Plan plan = vector_add_plan(kN);
  std::get<KernelOp>(plan.ops[0]).params = {PointerParam{0, 0}, PointerParam{0, 0},
                                            PointerParam{0, 0}, ScalarParam{4, kN}};
  plan.outputs[0].buffer = 0;
  return plan;
}

}  // namespace assay::sandbox::test
