#include "sandbox/launcher/replay.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "sandbox/launcher/fake_driver.h"
#include "sandbox/launcher/fake_kernels.h"
#include "sandbox/launcher/guarded_memory.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_samples.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

constexpr std::uint32_t kN = 1000;
constexpr std::uint64_t kPlenty = 1 << 28;

std::span<const std::byte> bytes_of(const std::vector<float>& values) { return std::as_bytes(std::span(values)); }

struct Bench {
  Bench() {
    add_fake_kernels(gpu);
    for (std::uint32_t i = 0; i < kN; ++i) {
      x.push_back(static_cast<float>(i));
      y.push_back(static_cast<float>(2 * i) + 0.5f);
    }
    request.gpu_memory_bytes = kPlenty;
  }
  LaunchResult<ReplayResult> run(const Plan& plan) { return run(plan, gpu); }
  LaunchResult<ReplayResult> run(const Plan& plan, FakeDriver& driver) {
    HostExchange exchange(driver, {{"x", bytes_of(x)}, {"y", bytes_of(y)}}, std::as_writable_bytes(std::span(out)));
    return replay(driver, plan, exchange, request, clock);
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

/// x = x + x in place: running it twice without fresh inputs gives another answer.
Plan doubling_plan() {
  Plan plan = test::vector_add_plan(kN);
  std::get<KernelOp>(plan.ops[0]).params = {PointerParam{0, 0}, PointerParam{0, 0}, PointerParam{0, 0}, ScalarParam{4, kN}};
  plan.outputs[0].buffer = 0;
  return plan;
}

}  // namespace

TEST_CASE("a plan is replayed on fresh inputs and its outputs come back") {
  Bench bench;
  const auto result = bench.run(test::vector_add_plan(kN));
  REQUIRE(result);
  bench.check_sum();
  REQUIRE(result->outputs.size() == 1);
  CHECK(result->outputs[0].dtype == "float32");
  CHECK(result->outputs[0].bytes == kN * 4);
  CHECK(result->outputs[0].offset == 0);
  REQUIRE(result->kernels.size() == 1);
  CHECK(result->kernels[0].name == "fake_vector_add");
  CHECK(result->kernels[0].launches == 1);
  CHECK(result->samples.cold_ns.empty());
  CHECK(bench.out[kN] == -7.0f);
  bench.check_clean();
}

TEST_CASE("operations run in order: fills of every width, copies, constants") {
  Bench bench;
  Plan plan;
  plan.target = "cuda:90";
  plan.buffers = {{BufferKind::scratch, 64, "", ""}, {BufferKind::constant, 4, "", "WXYZ"}};
  plan.ops = {FillOp{0, 0, 8, 1, 0x11}, FillOp{0, 8, 2, 2, 0x2222}, FillOp{0, 16, 2, 4, 0x33333333}, FillOp{0, 24, 2, 8, 0x0807060504030201},
              CopyOp{0, 40, 1, 1, 3},   CopyOp{0, 48, 0, 24, 8},    FillOp{0, 0, 1, 1, 0x99}};
  plan.outputs = {{0, 0, "uint8", {64}, {1}}};
  REQUIRE(bench.run(plan));
  std::vector<unsigned char> out(64);
  std::memcpy(out.data(), bench.out.data(), 64);
  CHECK(out[0] == 0x99);
  CHECK(out[7] == 0x11);
  CHECK(out[11] == 0x22);
  CHECK(out[12] == kPoisonByte);
  CHECK(out[23] == 0x33);
  CHECK(out[24] == 1);
  CHECK(out[39] == 8);
  CHECK(std::memcmp(&out[40], "XYZ", 3) == 0);
  CHECK(out[48] == 1);
  CHECK(out[63] == kPoisonByte);
  CHECK(bench.gpu.launches().empty());
  bench.check_clean();
}

TEST_CASE("what the plan does not write is poison, never what was there before") {
  Bench bench;
  Plan plan = test::vector_add_plan(kN, "not_a_known_kernel");
  REQUIRE(bench.run(plan));
  CHECK(std::isnan(bench.out[0]));
  CHECK(std::isnan(bench.out[kN - 1]));
  REQUIRE(bench.gpu.launches().size() == 1);
  CHECK(bench.gpu.launches()[0].params[3].value == kN);
}

TEST_CASE("several outputs, one of them a view, lie where their descriptors say") {
  Bench bench;
  Plan plan = test::vector_add_plan(kN);
  plan.outputs.push_back({2, 40, "float32", {2, 5}, {5, 1}});
  const auto result = bench.run(plan);
  REQUIRE(result);
  REQUIRE(result->outputs.size() == 2);
  const ReplayOutput& view = result->outputs[1];
  CHECK(view.offset == 4096);
  CHECK(view.bytes == 40);
  CHECK(bench.out[view.offset / 4] == bench.x[10] + bench.y[10]);
}

TEST_CASE("a write outside a buffer is caught on either side, by the byte") {
  Bench bench;
  const auto writing = [](std::int64_t offset) {
    Plan plan = test::vector_add_plan(kN);
    plan.binaries.push_back({"fake_write_byte", 0, test::tiny_elf()});
    KernelOp op;
    op.binary = 1;
    op.params = {PointerParam{2, 0}, ScalarParam{8, static_cast<std::uint64_t>(offset)}};
    plan.ops.push_back(op);
    return plan;
  };
  CHECK(bench.run(writing(4 * kN - 1)));
  for (const auto& [offset, where] :
       std::vector<std::pair<std::int64_t, std::string>>{{4 * kN, "past the end of buffer 2 (scratch, 4000 bytes), first at +0 bytes"},
                                                         {4 * kN + 4095, "first at +4095 bytes"},
                                                         {-1, "before the start of buffer 2 (scratch, 4000 bytes), at -1 bytes"},
                                                         {-4096, "at -4096 bytes"}}) {
    const auto result = bench.run(writing(offset));
    INFO(offset);
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == LaunchErrorKind::canary_violation);
    INFO(result.error().message);
    CHECK(result.error().message.find(where) != std::string::npos);
  }
  bench.check_clean();
}

TEST_CASE("an illegal address is a gpu_fault") {
  Bench bench;
  Plan plan = test::vector_add_plan(kN, "fake_illegal_address");
  std::get<KernelOp>(plan.ops[0]).params.clear();
  const auto result = bench.run(plan);
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == LaunchErrorKind::gpu_fault);
}

TEST_CASE("parameters that the image does not declare are refused before the launch") {
  Bench bench;
  Plan plan = test::vector_add_plan(kN);
  auto& params = std::get<KernelOp>(plan.ops[0]).params;
  SECTION("too few") { params.pop_back(); }
  SECTION("too many") { params.push_back(NullParam{}); }
  SECTION("another size") { params[3] = ScalarParam{8, kN}; }
  const auto result = bench.run(plan);
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == LaunchErrorKind::invalid_plan);
  CHECK(bench.gpu.launches().empty());
  bench.check_clean();
}

TEST_CASE("global scratch is allocated per launch, aligned, for every block, between canaries") {
  Bench bench;
  Plan plan = test::vector_add_plan(kN);
  std::vector<std::uint64_t> addresses;
  bench.gpu.add_kernel("uses_scratch", {8, 8}, [&](FakeLaunch& launch) -> LaunchStatus {
    addresses.push_back(launch.params[0].value);
    std::byte* mine = launch.memory(0, 0, 6 * 384);
    REQUIRE(mine != nullptr);
    CHECK(mine[0] == std::byte{kPoisonByte});
    std::memset(mine, 1, 6 * 384);
    CHECK(launch.params[1].value == 0);
    return {};
  });
  plan.binaries.push_back({"uses_scratch", 0, test::tiny_elf()});
  KernelOp op;
  op.binary = 1;
  op.grid = {3, 2, 1};
  op.params = {GlobalScratchParam{384, 4096}, NullParam{}};
  plan.ops.push_back(op);
  plan.ops.push_back(op);
  REQUIRE(bench.run(plan));
  REQUIRE(addresses.size() == 2);
  CHECK(addresses[0] != addresses[1]);
  CHECK(addresses[0] % 4096 == 0);
  CHECK(addresses[1] % 4096 == 0);
  bench.check_clean();
}

TEST_CASE("memory over the limit is refused before anything is allocated, guards and scratch included") {
  Bench bench;
  Plan plan = test::vector_add_plan(kN);
  const std::uint64_t need = 3 * GuardedMemory::cost(4 * kN, kBufferAlignment);
  SECTION("exactly enough") {
    bench.request.gpu_memory_bytes = need;
    CHECK(bench.run(plan));
    return;
  }
  SECTION("one byte short") { bench.request.gpu_memory_bytes = need - 1; }
  SECTION("scratch counts") {
    bench.request.gpu_memory_bytes = need;
    std::get<KernelOp>(plan.ops[0]).params.push_back(GlobalScratchParam{1, 1});
  }
  SECTION("a size near 2^64") { plan.buffers[2].bytes = ~0ULL; }
  const auto result = bench.run(plan);
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == LaunchErrorKind::gpu_memory_limit);
  CHECK(bench.gpu.allocated_bytes() == 0);
  CHECK(bench.gpu.launches().empty());
}

TEST_CASE("a device that is full is a gpu_memory_limit too") {
  Bench bench;
  Plan plan = test::vector_add_plan(kN);
  plan.buffers[2].bytes = 2ULL << 30;
  bench.request.gpu_memory_bytes = 8ULL << 30;
  const auto result = bench.run(plan);
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == LaunchErrorKind::gpu_memory_limit);
  bench.check_clean();
}

TEST_CASE("a plan that fails its checks reaches no driver") {
  Bench bench;
  Plan plan = test::vector_add_plan(kN + 1);
  const auto result = bench.run(plan);
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == LaunchErrorKind::invalid_plan);
  CHECK(result.error().message == "buffer 0: input 'x' has 4000 bytes, the plan says 4004");
}

TEST_CASE("every timed run starts from the same inputs, and a timed run's outputs are what is handed back") {
  Bench bench;
  bench.request.timing = TimingRules{.min_samples = 30, .max_samples = 60, .max_time_ms = 2'000};
  const auto result = bench.run(doubling_plan());
  REQUIRE(result);
  for (std::uint32_t i = 0; i < kN; ++i) REQUIRE(bench.out[i] == 2 * bench.x[i]);
  CHECK(result->samples.cold_ns.size() >= 30);
  CHECK(bench.gpu.launches().size() > result->samples.cold_ns.size());
  for (const double ns : result->samples.cold_ns) CHECK(ns >= 2000);
  bench.check_clean();
}

TEST_CASE("variables of a kernel's own are as at first in each sample: an answer cannot be handed on") {
  Bench bench;
  // It adds only when its variable is zero. What it leaves of a poisoned output otherwise is NaN.
  const Plan plan = test::vector_add_plan(kN, "fake_add_once", test::elf_with_section(".nv.global", 8));
  REQUIRE(bench.run(plan));
  bench.check_sum();
  bench.request.timing = TimingRules{.min_samples = 6, .max_samples = 6, .max_time_ms = 2'000};
  REQUIRE(bench.run(plan));
  bench.check_sum();
  // An image that declares none is not loaded again: the fake kernel remembers, and the drawn sample shows it.
  REQUIRE(bench.run(test::vector_add_plan(kN, "fake_add_once")));
  CHECK(std::isnan(bench.out[0]));
  bench.check_clean();
}

TEST_CASE("renewed inputs are those of every sample, and of what comes back") {
  Bench bench;
  bench.request.timing = TimingRules{.min_samples = 6, .max_samples = 6, .max_time_ms = 2'000};
  std::size_t before = 0;
  bench.request.renew = [&]() -> LaunchStatus {
    before = bench.gpu.launches().size();
    CHECK(before > 0);
    for (float& value : bench.x) value += 100;
    return {};
  };
  const auto result = bench.run(test::vector_add_plan(kN));
  REQUIRE(result);
  bench.check_sum();
  // What ran since then was the warm-up on the old inputs, and the samples.
  CHECK(bench.gpu.launches().size() > before + 6);
  REQUIRE(result->samples.first_run_ns);
  CHECK(*result->samples.first_run_ns == result->samples.cold_ns[0]);
  bench.check_clean();
}

TEST_CASE("warm-up runs on the old inputs: the first sample is the first run on the new ones") {
  Bench bench;
  bench.request.timing = TimingRules{.min_samples = 6, .max_samples = 6, .max_time_ms = 2'000, .side_samples = 0};
  std::vector<float> seen;
  bench.gpu.add_kernel("watch", {8, 8, 8, 4}, [&](FakeLaunch& launch) -> LaunchStatus {
    float first = 0;
    std::memcpy(&first, launch.memory(0, 0, 4), 4);
    seen.push_back(first);
    return {};
  });
  std::size_t before = 0;
  bench.request.renew = [&]() -> LaunchStatus {
    before = seen.size();
    bench.x[0] += 100;
    return {};
  };
  const float old = bench.x[0];
  REQUIRE(bench.run(test::vector_add_plan(kN, "watch")));
  const auto renewed = std::find(seen.begin(), seen.end(), old + 100);
  CHECK(std::find(seen.begin() + static_cast<std::ptrdiff_t>(before), renewed, old) != renewed);
  CHECK(seen.end() - renewed == 6);
  CHECK(std::count(renewed, seen.end(), old + 100) == 6);
}

TEST_CASE("a first sample that leaves the work to later ones is seen about half of the time, whatever their number") {
  Bench bench;
  bench.request.timing = TimingRules{.min_samples = 40, .max_samples = 40, .max_time_ms = 10'000, .warm_up_ms = 0, .side_samples = 0};
  int since = 0;
  bench.gpu.add_kernel("lazy", {8, 8, 8, 4}, [&](FakeLaunch& launch) -> LaunchStatus {
    const float value = since++ == 0 ? 0.0f : 1.0f;
    std::memcpy(launch.memory(2, 0, 4), &value, 4);
    return {};
  });
  int caught = 0;
  constexpr int kBlocks = 60;
  for (int i = 0; i < kBlocks; ++i) {
    since = -4;  // the run before timing, and three of the warm-up
    REQUIRE(bench.run(test::vector_add_plan(kN, "lazy")));
    caught += bench.out[0] == 0.0f ? 1 : 0;
  }
  // 30 +- 15.5 would be four standard deviations.
  CHECK(caught > 14);
  CHECK(caught < 46);
}

TEST_CASE("variables count as memory of the plan") {
  Bench bench;
  const auto refused = bench.run(test::vector_add_plan(kN, "fake_vector_add", test::elf_with_section(".nv.global", kPlenty)));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == LaunchErrorKind::gpu_memory_limit);
}

TEST_CASE("an input that was written is named, unless it may be") {
  Bench bench;
  const Plan plan = test::vector_add_plan(kN, "fake_add_in_place");
  const auto result = bench.run(plan);
  REQUIRE(result);
  CHECK(result->modified == std::vector<std::string>{"x"});
  HostExchange exchange(bench.gpu, {{"x", bytes_of(bench.x), true}, {"y", bytes_of(bench.y), false}}, std::as_writable_bytes(std::span(bench.out)));
  const auto allowed = replay(bench.gpu, plan, exchange, bench.request, bench.clock);
  REQUIRE(allowed);
  CHECK(allowed->modified.empty());
  CHECK(bench.run(test::vector_add_plan(kN))->modified.empty());
}

TEST_CASE("ablated, a plan does everything but the submission's kernels") {
  Bench bench;
  Plan plan = test::vector_add_plan(kN);
  plan.ops.insert(plan.ops.begin(), FillOp{2, 0, kN, 4, 0});
  plan.binaries.push_back({"assay_copy", 0, test::tiny_elf()});
  bench.gpu.add_kernel("assay_copy", {8, 8, 8, 4}, [](FakeLaunch& launch) {
    *launch.memory(2, 0, 1) = std::byte{1};
    return LaunchStatus();
  });
  KernelOp copy = std::get<KernelOp>(plan.ops[1]);
  copy.binary = 1;
  plan.ops.insert(plan.ops.begin() + 1, copy);
  const auto full = bench.run(plan);
  REQUIRE(full);
  CHECK(full->moves == 1);
  bench.check_sum();
  bench.request.ablated = true;
  REQUIRE(bench.run(plan));
  std::uint32_t first = 0;
  std::memcpy(&first, bench.out.data(), sizeof first);
  CHECK(first == 1);
  CHECK(bench.out[1] == 0.0f);
}

TEST_CASE("an inspected plan has a timeline, and says whether its bits are always the same") {
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
  const std::vector<OperationNs>& timeline = result->inspection->timeline;
  REQUIRE(timeline.size() == 2);
  CHECK(timeline[0].operation.name == "fill");
  CHECK_FALSE(timeline[0].operation.submitted);
  CHECK(timeline[0].ns == Approx(2'000).margin(50));
  CHECK(timeline[1].operation.name == "fake_vector_add");
  CHECK(timeline[1].operation.submitted);
  CHECK(timeline[1].ns == Approx(8'000).margin(50));
  bench.check_clean();

  // It adds only every other time.
  const auto other = bench.run(test::vector_add_plan(kN, "fake_add_once"));
  REQUIRE(other);
  CHECK(other->inspection->deterministic == true);  // NaN both times: by now its variable is far from zero
  std::uint32_t runs = 0;
  bench.gpu.add_kernel("fake_vector_add", {8, 8, 8, 4}, [&runs](FakeLaunch& launch) {
    *launch.memory(2, 0, 1) = static_cast<std::byte>(++runs);
    return LaunchStatus();
  });
  CHECK(bench.run(plan)->inspection->deterministic == false);
}

TEST_CASE("a device too full for pristine copies is refilled from host memory") {
  const std::uint64_t buffers = 3 * GuardedMemory::cost(4 * kN, kBufferAlignment);
  FakeDriver small(buffers + (2 << 20) + 4 * kN);  // room for the flush buffer and one of the two copies
  Bench bench;
  add_fake_kernels(small);
  bench.request.timing = TimingRules{.min_samples = 6, .max_samples = 6, .max_time_ms = 2'000};
  const auto result = bench.run(doubling_plan(), small);
  REQUIRE(result);
  for (std::uint32_t i = 0; i < kN; ++i) REQUIRE(bench.out[i] == 2 * bench.x[i]);
}

TEST_CASE("device code that misbehaves only in a timed run is caught") {
  Bench bench;
  int runs = 0;
  Plan plan = test::vector_add_plan(kN, "later_out_of_bounds");
  bench.gpu.add_kernel("later_out_of_bounds", {8, 8, 8, 4}, [&](FakeLaunch& launch) -> LaunchStatus {
    if (++runs > 4) *launch.memory(2, 4 * kN, 1) = std::byte{0};
    return {};
  });
  bench.request.timing = TimingRules{.min_samples = 6, .max_samples = 6, .max_time_ms = 2'000};
  const auto result = bench.run(plan);
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == LaunchErrorKind::canary_violation);
  bench.check_clean();
}

TEST_CASE("device code that is right only in its first run is seen to be wrong") {
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
