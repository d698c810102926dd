#include "sandbox/launcher/replay/trials.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "sandbox/launcher/driver/fake_driver.h"
#include "sandbox/launcher/replay/replay.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_samples.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

constexpr std::uint32_t kTunedFloats = 64;

/// Runs x + y with one of three kernels, which do the same work. The second kernel is the fastest.
struct TuneBench {
  TuneBench() {
    for (const char* name : {"slow", "fast", "slower"}) {
      gpu.add_kernel(name, {8, 8, 8, 4}, [this](FakeLaunch& launch) { return add(launch); });
    }
    gpu.set_kernel_ns("slow", 20'000);
    gpu.set_kernel_ns("fast", 5'000);
    gpu.set_kernel_ns("slower", 90'000);
    request.gpu_memory_bytes = 1 << 28;
    request.timing = TimingRules{
        .min_samples = 8, .max_samples = 8, .max_time_ms = 1000, .relative_half_width = 0.5};
  }

  LaunchStatus add(FakeLaunch& launch) {
    float x = 0;
    float y = 0;
    float before = 0;
    std::memcpy(&x, launch.memory(0, 0, 4), 4);
    std::memcpy(&y, launch.memory(1, 0, 4), 4);
    std::memcpy(&before, launch.memory(2, 0, 4), 4);
    if (before == before) ++dirty;  // the poison is NaN; any other value was left by an earlier run
    const float sum = x + y;
    std::memcpy(launch.memory(2, 0, 4), &sum, 4);
    return {};
  }

  Plan plan() const {
    Plan plan = test::vector_add_plan(kTunedFloats);
    const KernelOp op = std::get<KernelOp>(plan.ops[0]);
    plan.binaries.clear();
    ChoiceOp choice{41, {}};
    for (const char* name : {"slow", "fast", "slower"}) {
      KernelOp one = op;
      one.binary = static_cast<std::uint32_t>(plan.binaries.size());
      plan.binaries.push_back({name, 0, test::tiny_elf()});
      choice.alternatives.push_back({std::string("the ") + name + " one", {one}});
    }
    plan.ops = {choice};
    return plan;
  }

  LaunchResult<Launched> run(const Plan& what) {
    std::vector<float> x(kTunedFloats, 1.0f);
    std::vector<float> y(kTunedFloats, 2.0f);
    HostBuffers buffers(gpu,
                        {{"x", std::as_bytes(std::span(x))}, {"y", std::as_bytes(std::span(y))}},
                        std::as_writable_bytes(std::span(out)));
    return replay(gpu, what, buffers, request, clock);
  }

  FakeDriver gpu;
  SystemClock clock;
  std::vector<float> out = std::vector<float>(kTunedFloats);
  ReplayRequest request;
  int dirty = 0;
};

std::vector<std::int64_t> launches(const Launched& result) {
  std::vector<std::int64_t> counts;
  for (const KernelUse& use : result.kernels) counts.push_back(use.launches);
  return counts;
}

}  // namespace

TEST_CASE("the fastest alternative is chosen, timed and reported") {
  TuneBench bench;
  const auto result = bench.run(bench.plan());
  REQUIRE(result);
  CHECK(result->choices == std::vector<std::string>{"the fast one"});
  CHECK(launches(*result) == std::vector<std::int64_t>{0, 1, 0});
  for (const double ns : result->samples->cold_ns) CHECK(ns < 6'000);
  CHECK(bench.out[0] == 3.0f);
  CHECK(bench.dirty == 0);
}

TEST_CASE("without timing the first alternative is taken") {
  TuneBench bench;
  bench.request.timing.reset();
  const auto result = bench.run(bench.plan());
  REQUIRE(result);
  CHECK(result->choices == std::vector<std::string>{"the slow one"});
  CHECK(bench.gpu.launches().size() == 1);
}

TEST_CASE("a replay takes the alternatives that an earlier replay chose, timed or not") {
  TuneBench bench;
  bench.request.chosen = {2};
  CHECK(bench.run(bench.plan())->choices == std::vector<std::string>{"the slower one"});
  bench.request.timing.reset();
  const auto result = bench.run(bench.plan());
  REQUIRE(result);
  CHECK(result->choices == std::vector<std::string>{"the slower one"});
  CHECK(launches(*result) == std::vector<std::int64_t>{0, 0, 1});
  CHECK(bench.gpu.launches().back().kernel == "slower");
  bench.request.chosen = {3};
  const auto refused = bench.run(bench.plan());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == LaunchErrorKind::internal_error);
}

TEST_CASE("two choices of one tunable get one alternative, which is timed at the first choice") {
  TuneBench bench;
  Plan plan = bench.plan();
  plan.ops.push_back(FillOp{2, 0, kTunedFloats, 4, 0xFFFFFFFF});  // fills with NaN again
  plan.ops.push_back(plan.ops[0]);
  const auto result = bench.run(plan);
  REQUIRE(result);
  CHECK(result->choices.size() == 1);
  CHECK(launches(*result) == std::vector<std::int64_t>{0, 2, 0});
  CHECK(bench.dirty == 0);
}

TEST_CASE("a later tunable is tried after the alternative that was chosen for the earlier one") {
  TuneBench bench;
  Plan plan = bench.plan();
  ChoiceOp second = std::get<ChoiceOp>(plan.ops[0]);
  second.tunable = 42;
  std::swap(second.alternatives[0], second.alternatives[1]);
  plan.ops.push_back(FillOp{2, 0, kTunedFloats, 4, 0xFFFFFFFF});
  plan.ops.push_back(second);
  const auto result = bench.run(plan);
  REQUIRE(result);
  CHECK(result->choices == std::vector<std::string>{"the fast one", "the fast one"});
  CHECK(bench.dirty == 0);
}

TEST_CASE("an alternative much slower than the best gets no further samples") {
  TuneBench bench;
  REQUIRE(bench.run(bench.plan()));
  std::int64_t slower = 0;
  for (const auto& launch : bench.gpu.launches()) slower += launch.kernel == "slower" ? 1 : 0;
  CHECK(slower == 1);
}

TEST_CASE("a fault in an alternative ends the launch") {
  TuneBench bench;
  bench.gpu.add_kernel("slower", {8, 8, 8, 4}, [](FakeLaunch&) {
    return launch_fail(LaunchErrorKind::gpu_fault,
                       "running on the GPU: FAKE_ERROR_ILLEGAL_ADDRESS");
  });
  const auto result = bench.run(bench.plan());
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == LaunchErrorKind::gpu_fault);
}

TEST_CASE("a tensor map reaches the kernel as a descriptor of its buffer") {
  TuneBench bench;
  Plan plan = test::vector_add_plan(kTunedFloats, "takes_a_map");
  TensorMapParam map = test::tensor_map();
  std::get<KernelOp>(plan.ops[0]).params = {map, PointerParam{2, 0}};
  DevicePtr described = 0;
  DevicePtr buffer = 0;
  bench.gpu.add_kernel("takes_a_map", {sizeof(TensorMap), 8}, [&](FakeLaunch& launch) {
    std::memcpy(&described, launch.params[0].map->bytes.data(), sizeof(described));
    buffer = launch.params[1].value;
    return LaunchStatus();
  });
  REQUIRE(bench.run(plan));
  CHECK(described == buffer);
  CHECK(described != 0);
}
