// Tests timed plans: the state before each sample, and the outputs that are returned.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "sandbox/launcher/memory/buffer_memory.h"
#include "sandbox/launcher/replay/replay.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_samples.h"
#include "tests/sandbox/launcher/replay_bench.h"

using namespace assay;
using namespace assay::sandbox;
using test::Bench;
using test::doubling_plan;
using test::kN;

TEST_CASE(
    "every timed run starts from the same inputs, and the outputs of a timed run are returned") {
  Bench bench;
  bench.request.timing = TimingRules{.min_samples = 30, .max_samples = 60, .max_time_ms = 2'000};
  const auto result = bench.run(doubling_plan());
  REQUIRE(result);
  for (std::uint32_t i = 0; i < kN; ++i) REQUIRE(bench.out[i] == 2 * bench.x[i]);
  CHECK(result->samples->cold_ns.size() >= 30);
  CHECK(bench.gpu.launches().size() > result->samples->cold_ns.size());
  for (const double ns : result->samples->cold_ns) CHECK(ns >= 2000);
  bench.check_clean();
}

TEST_CASE(
    "variables of a kernel have their first values in each sample, so it cannot pass results on") {
  Bench bench;
  // The kernel adds only if its variable is zero. Otherwise the output stays poisoned with NaN.
  const Plan plan =
      test::vector_add_plan(kN, "fake_add_once", test::elf_with_section(".nv.global", 8));
  REQUIRE(bench.run(plan));
  bench.check_sum();
  bench.request.timing = TimingRules{.min_samples = 6, .max_samples = 6, .max_time_ms = 2'000};
  REQUIRE(bench.run(plan));
  bench.check_sum();
  // The launcher loads an image again before each sample only if the image declares variables. This
  // image declares none, so the fake kernel's variable keeps its value and the output stays NaN.
  REQUIRE(bench.run(test::vector_add_plan(kN, "fake_add_once")));
  CHECK(std::isnan(bench.out[0]));
  bench.check_clean();
}

TEST_CASE("an input that only timed runs change is reported") {
  Bench bench;
  bench.request.timing = TimingRules{.min_samples = 6, .max_samples = 6, .max_time_ms = 2'000};
  int runs = 0;
  bench.gpu.add_kernel("spoils_later", {8, 8, 8, 4}, [&](FakeLaunch& launch) -> LaunchStatus {
    if (++runs > 1) *launch.memory(0, 0, 1) ^= std::byte{1};
    return {};
  });
  const auto result = bench.run(test::vector_add_plan(kN, "spoils_later"));
  REQUIRE(result);
  CHECK(result->modified == std::vector<std::string>{"x"});
  CHECK(bench.run(test::vector_add_plan(kN))->modified.empty());
}

TEST_CASE("every sample runs on the new inputs, and the outputs belong to them") {
  Bench bench;
  bench.request.timing = TimingRules{.min_samples = 6, .max_samples = 6, .max_time_ms = 2'000};
  std::size_t before = 0;
  bench.request.stage_next_inputs = [&]() -> LaunchStatus {
    before = bench.gpu.launches().size();
    CHECK(before > 0);
    for (float& value : bench.x) value += 100;
    return {};
  };
  const auto result = bench.run(test::vector_add_plan(kN));
  REQUIRE(result);
  bench.check_sum();
  // The launches after `before` are the warm-up on the old inputs, and then the six samples.
  CHECK(bench.gpu.launches().size() > before + 6);
  REQUIRE(result->samples->first_run_ns);
  CHECK(*result->samples->first_run_ns == result->samples->cold_ns[0]);
  bench.check_clean();
}

TEST_CASE("the warm-up runs on the old inputs, and the first sample first uses the new ones") {
  Bench bench;
  bench.request.timing =
      TimingRules{.min_samples = 6, .max_samples = 6, .max_time_ms = 2'000, .side_samples = 0};
  std::vector<float> seen;
  bench.gpu.add_kernel("watch", {8, 8, 8, 4}, [&](FakeLaunch& launch) -> LaunchStatus {
    float first = 0;
    std::memcpy(&first, launch.memory(0, 0, 4), 4);
    seen.push_back(first);
    return {};
  });
  std::size_t before = 0;
  bench.request.stage_next_inputs = [&]() -> LaunchStatus {
    before = seen.size();
    bench.x[0] += 100;
    return {};
  };
  const float old = bench.x[0];
  REQUIRE(bench.run(test::vector_add_plan(kN, "watch")));
  const auto renewed = std::find(seen.begin(), seen.end(), old + 100);
  CHECK(std::find(seen.begin() + static_cast<std::ptrdiff_t>(before), renewed, old) != renewed);
  // The six samples, and runs that are discarded after pauses.
  CHECK(seen.end() - renewed >= 6);
  CHECK(std::count(renewed, seen.end(), old + 100) == seen.end() - renewed);
}

TEST_CASE(
    "a first sample that does no work is returned about half of the time, whatever the number of "
    "samples") {
  Bench bench;
  bench.request.timing = TimingRules{.min_samples = 40,
                                     .max_samples = 40,
                                     .max_time_ms = 10'000,
                                     .warm_up_ms = 0,
                                     .side_samples = 0};
  int since = 0;
  bench.gpu.add_kernel("lazy", {8, 8, 8, 4}, [&](FakeLaunch& launch) -> LaunchStatus {
    const float value = since++ == 0 ? 0.0f : 1.0f;
    std::memcpy(launch.memory(2, 0, 4), &value, 4);
    return {};
  });
  int caught = 0;
  constexpr int kBlocks = 400;
  for (int i = 0; i < kBlocks; ++i) {
    since = -4;  // one run before the timing, and three runs for the warm-up
    REQUIRE(bench.run(test::vector_add_plan(kN, "lazy")));
    caught += bench.out[0] == 0.0f ? 1 : 0;
  }
  // `caught` counts the blocks that returned the outputs of the first sample. Its expected value is
  // 200, and its standard deviation is 10. So a value outside of these limits would come once in
  // 10^15 runs of this test.
  CHECK(caught > 120);
  CHECK(caught < 280);
}

TEST_CASE("a timed plan whose outputs nobody needs returns none") {
  Bench bench;
  bench.request.timing = TimingRules{.min_samples = 6, .max_samples = 6, .max_time_ms = 2'000};
  bench.request.returns_outputs = false;
  int runs = 0;
  bench.gpu.add_kernel("spoils_later", {8, 8, 8, 4}, [&](FakeLaunch& launch) -> LaunchStatus {
    if (++runs > 1) *launch.memory(0, 0, 1) ^= std::byte{1};
    return {};
  });
  const std::vector<float> before = bench.out;
  const auto result = bench.run(test::vector_add_plan(kN, "spoils_later"));
  REQUIRE(result);
  CHECK(result->samples->cold_ns.size() == 6);
  CHECK(std::memcmp(bench.out.data(), before.data(), before.size() * sizeof(float)) == 0);
  CHECK(result->modified.empty());
  bench.check_clean();
}

TEST_CASE("the inspection of a plan has a timeline, and compares the bits of two runs") {
  Bench bench;
  Plan plan = test::vector_add_plan(kN);
  plan.ops.insert(plan.ops.begin(), FillOp{2, 0, kN, 4, 0});
  bench.gpu.set_kernel_ns("fake_vector_add", 8'000);
  bench.request.timing = TimingRules{.min_samples = 6, .max_samples = 6, .max_time_ms = 2'000};
  CHECK_FALSE(bench.run(plan)->inspection);
  bench.request.inspect = true;
  const auto result = bench.run(plan);
  REQUIRE(result);
  REQUIRE(result->inspection);
  CHECK(result->inspection->deterministic == true);
  const std::vector<OperationTime>& timeline = result->inspection->timeline;
  REQUIRE(timeline.size() == 2);
  CHECK(timeline[0].name == "fill");
  CHECK_FALSE(timeline[0].submitted);
  CHECK(timeline[0].ns == Approx(2'000).margin(50));
  CHECK(timeline[1].name == "fake_vector_add");
  CHECK(timeline[1].submitted);
  CHECK(timeline[1].ns == Approx(8'000).margin(50));
  bench.check_clean();

  // The kernel fake_add_once writes its output only in its first run, so later runs leave NaN in
  // the output. The inspection compares two later runs, so the bits of the two outputs are equal.
  const auto other = bench.run(test::vector_add_plan(kN, "fake_add_once"));
  REQUIRE(other);
  CHECK(other->inspection->deterministic == true);
  std::uint32_t runs = 0;
  bench.gpu.add_kernel("fake_vector_add", {8, 8, 8, 4}, [&runs](FakeLaunch& launch) {
    *launch.memory(2, 0, 1) = static_cast<std::byte>(++runs);
    return LaunchStatus();
  });
  CHECK(bench.run(plan)->inspection->deterministic == false);
}

TEST_CASE("a device too full for copies of the inputs is refilled from host memory") {
  const std::uint64_t buffers = 3 * GuardedMemory::cost(4 * kN, kBufferAlignment);
  // Besides the plan's buffers, the device has memory for the flush buffer and for a copy of only
  // one of the two inputs.
  FakeDriver small(buffers + (2 << 20) + 4 * kN);
  Bench bench;
  add_fake_kernels(small);
  bench.request.timing = TimingRules{.min_samples = 6, .max_samples = 6, .max_time_ms = 2'000};
  const auto result = bench.run(doubling_plan(), small);
  REQUIRE(result);
  for (std::uint32_t i = 0; i < kN; ++i) REQUIRE(bench.out[i] == 2 * bench.x[i]);
}

TEST_CASE("a stray write that happens only in a timed run is detected") {
  Bench bench;
  int runs = 0;
  Plan plan = test::vector_add_plan(kN, "later_out_of_bounds");
  bench.gpu.add_kernel("later_out_of_bounds", {8, 8, 8, 4},
                       [&](FakeLaunch& launch) -> LaunchStatus {
                         if (++runs > 4) *launch.memory(2, 4 * kN, 1) = std::byte{0};
                         return {};
                       });
  bench.request.timing = TimingRules{.min_samples = 6, .max_samples = 6, .max_time_ms = 2'000};
  const auto result = bench.run(plan);
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == LaunchErrorKind::canary_violation);
  bench.check_clean();
}

TEST_CASE("the outputs of device code that is right only in its first run are wrong") {
  Bench bench;
  int runs = 0;
  Plan plan = test::vector_add_plan(kN, "right_once");
  bench.gpu.add_kernel("right_once", {8, 8, 8, 4}, [&](FakeLaunch& launch) -> LaunchStatus {
    std::memset(launch.memory(2, 0, 4 * kN), runs++ == 0 ? 0 : 0x41, 4 * kN);
    return {};
  });
  bench.request.timing = TimingRules{.min_samples = 6, .max_samples = 6, .max_time_ms = 2'000};
  REQUIRE(bench.run(plan));
  CHECK(bench.out[0] != 0.0f);
}
