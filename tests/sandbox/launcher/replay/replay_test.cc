#include "sandbox/launcher/replay/replay.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "sandbox/launcher/memory/buffer_memory.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_samples.h"
#include "tests/sandbox/launcher/replay_bench.h"

using namespace assay;
using namespace assay::sandbox;
using test::Bench;
using test::bytes_of;
using test::kN;
using test::kPlenty;

TEST_CASE("a plan is replayed on fresh inputs, and its outputs are copied back") {
  Bench bench;
  const auto result = bench.run(test::vector_add_plan(kN));
  REQUIRE(result);
  bench.check_sum();
  REQUIRE(result->outputs.size() == 1);
  CHECK(result->outputs[0].dtype == "float32");
  CHECK(result->outputs[0].nbytes == kN * 4);
  CHECK(result->outputs[0].offset == 0);
  CHECK(result->outputs[0].name == "output_0");
  REQUIRE(result->kernels.size() == 1);
  CHECK(result->kernels[0].name == "fake_vector_add");
  CHECK(result->kernels[0].launches == 1);
  CHECK_FALSE(result->samples);
  CHECK(bench.out[kN] == -7.0f);
  bench.check_clean();
}

TEST_CASE("operations run in order: fills of every width, copies, constants") {
  Bench bench;
  Plan plan;
  plan.target = "cuda:90";
  plan.buffers = {{BufferKind::scratch, 64, "", ""}, {BufferKind::constant, 4, "", "WXYZ"}};
  plan.ops = {FillOp{0, 0, 8, 1, 0x11},        FillOp{0, 8, 2, 2, 0x2222},
              FillOp{0, 16, 2, 4, 0x33333333}, FillOp{0, 24, 2, 8, 0x0807060504030201},
              CopyOp{0, 40, 1, 1, 3},          CopyOp{0, 48, 0, 24, 8},
              FillOp{0, 0, 1, 1, 0x99}};
  plan.outputs = {{0, 0, "uint8", {64}, {1}}};
  REQUIRE(bench.run(plan));
  std::vector<unsigned char> out(64);
  std::memcpy(out.data(), bench.out.data(), 64);
  CHECK(out[0] == 0x99);
  CHECK(out[7] == 0x11);
  CHECK(out[11] == 0x22);
  CHECK(out[12] == (kPoison & 0xFF));
  CHECK(out[23] == 0x33);
  CHECK(out[24] == 1);
  CHECK(out[39] == 8);
  CHECK(std::memcmp(&out[40], "XYZ", 3) == 0);
  CHECK(out[48] == 1);
  CHECK(out[63] == kPoison >> 8);
  CHECK(bench.gpu.launches().empty());
  bench.check_clean();
}

TEST_CASE("memory that the plan does not write holds poison, never earlier contents") {
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
  const Argument& view = result->outputs[1];
  CHECK(view.offset == 4096);
  CHECK(view.name == "output_1");
  CHECK(view.nbytes == 40);
  CHECK(bench.out[static_cast<std::size_t>(view.offset) / 4] == bench.x[10] + bench.y[10]);
}

TEST_CASE("a write outside a buffer is detected on either side, to the byte") {
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
  for (const auto& [offset, where] : std::vector<std::pair<std::int64_t, std::string>>{
           {4 * kN, "past the end of buffer 2 (scratch, 4000 bytes), first at +0 bytes"},
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
    CHECK(mine[0] == std::byte{kPoison & 0xFF});
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

TEST_CASE(
    "memory over the limit is refused before anything is allocated, guards and scratch included") {
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

TEST_CASE("a plan that needs more than the device has exceeds a limit") {
  Bench bench;
  Plan plan = test::vector_add_plan(kN);
  plan.buffers[2].bytes = static_cast<std::uint64_t>(bench.gpu.facts().memory_bytes);
  bench.request.gpu_memory_bytes = 8ULL << 30;
  const auto result = bench.run(plan);
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == LaunchErrorKind::gpu_memory_limit);
  bench.check_clean();
}

TEST_CASE("a device that others have filled is not the plan's fault") {
  Bench bench;
  const auto others =
      bench.gpu.allocate(static_cast<std::uint64_t>(bench.gpu.facts().memory_bytes) - (1 << 10));
  REQUIRE(others);
  const auto result = bench.run(test::vector_add_plan(kN));
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == LaunchErrorKind::device_full);
  bench.gpu.free(*others);
  bench.check_clean();
}

TEST_CASE("a plan that fails its checks never reaches the driver") {
  Bench bench;
  Plan plan = test::vector_add_plan(kN + 1);
  const auto result = bench.run(plan);
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == LaunchErrorKind::invalid_plan);
  CHECK(result.error().message == "buffer 0: input 'x' has 4000 bytes, the plan says 4004");
}

TEST_CASE("variables of a binary count as memory of the plan") {
  Bench bench;
  const auto refused = bench.run(
      test::vector_add_plan(kN, "fake_vector_add", test::elf_with_section(".nv.global", kPlenty)));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == LaunchErrorKind::gpu_memory_limit);
}

TEST_CASE("the local memory of a kernel counts for all threads that can be resident") {
  Bench bench;
  const auto resident =
      static_cast<std::uint64_t>(bench.gpu.facts().sms) * kMostThreadsPerMultiprocessor;
  const std::uint64_t buffers = 3 * GuardedMemory::cost(4 * kN, kBufferAlignment);
  bench.gpu.set_local_bytes("fake_vector_add", 512);
  bench.request.gpu_memory_bytes = buffers + 512 * resident;
  CHECK(bench.run(test::vector_add_plan(kN)));
  bench.request.gpu_memory_bytes -= 1;
  const auto refused = bench.run(test::vector_add_plan(kN));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == LaunchErrorKind::gpu_memory_limit);
  CHECK(refused.error().message.find("512 bytes of local memory per thread") != std::string::npos);
  bench.check_clean();
}

TEST_CASE("stacks are reserved only for kernels that use local memory or call functions") {
  Bench bench;
  SECTION("neither") {
    CHECK(bench.run(test::vector_add_plan(kN, "fake_vector_add", test::elf_with_function(0x10))));
    CHECK_FALSE(bench.gpu.stacks_reserved());
  }
  SECTION("local memory") {
    bench.gpu.set_local_bytes("fake_vector_add", 16);
    CHECK(bench.run(test::vector_add_plan(kN)));
    CHECK(bench.gpu.stacks_reserved());
  }
  SECTION("a function") {
    CHECK(bench.run(test::vector_add_plan(kN, "fake_vector_add", test::elf_with_function(0))));
    CHECK(bench.gpu.stacks_reserved());
  }
}

TEST_CASE("an input that a plan changed is reported, unless it is inout") {
  Bench bench;
  const Plan plan = test::vector_add_plan(kN, "fake_add_in_place");
  const auto result = bench.run(plan);
  REQUIRE(result);
  CHECK(result->modified == std::vector<std::string>{"x"});
  HostBuffers buffers(bench.gpu, {{"x", bytes_of(bench.x), true}, {"y", bytes_of(bench.y), false}},
                      std::as_writable_bytes(std::span(bench.out)));
  const auto allowed = replay(bench.gpu, plan, buffers, bench.request, bench.clock);
  REQUIRE(allowed);
  CHECK(allowed->modified.empty());
  CHECK(bench.run(test::vector_add_plan(kN))->modified.empty());
}

TEST_CASE("an ablated plan runs everything but the submission's kernels") {
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
