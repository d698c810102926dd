// Tests the launcher process on a real NVIDIA GPU, over a real socket. The driver assembles the
// test kernels. The tests need device 0 to be free, and print what they measure.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "sandbox/launcher/driver/open_driver.h"
#include "sandbox/launcher/plan/plan_check.h"
#include "sandbox/launcher/replay/replay.h"
#include "sandbox/launcher/timing/timing.h"
#include "tests/catch.h"
#include "tests/gpu/gpu_launcher.h"
#include "tests/gpu/launcher_kernels.h"
#include "tests/sandbox/launcher/plan_samples.h"
#include "tests/sandbox/launcher/plan_writer.h"

using namespace assay;
using namespace assay::sandbox;
using test::GpuLauncher;

namespace {

constexpr std::uint32_t kN = 100'003;  // not a multiple of the block size

const std::string& image() {
  static const std::string assembled = test::assemble(test::kKernels);
  return assembled;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string target() {
  static const std::string name = list_cuda_devices().value().at(0).target;
  return name;
}

Plan add_plan(std::uint32_t n) {
  Plan plan = test::vector_add_plan(n, "vector_add", image());
  plan.target = target();
  return plan;
}

/// Returns a plan with one test kernel over a scratch buffer of `bytes` zeros, which is the output.
Plan one_kernel_plan(const std::string& kernel, std::vector<KernelParam> params,
                     std::uint64_t bytes = 256, std::string binary = {}) {
  Plan plan;
  plan.target = target();
  plan.buffers = {{BufferKind::scratch, bytes, "", ""}};
  plan.binaries = {{kernel, 0, binary.empty() ? image() : std::move(binary)}};
  KernelOp op;
  op.params = std::move(params);
  plan.ops = {FillOp{0, 0, bytes, 1, 0}, op};
  plan.outputs = {{0, 0, "int32", {static_cast<std::int64_t>(bytes / 4)}, {1}}};
  return plan;
}

std::int32_t first_int(const test::LaunchCase& one, const nlohmann::json& answer,
                       std::size_t index = 0) {
  INFO(answer.dump());
  REQUIRE(answer["type"] == "launched");
  std::int32_t value = 0;
  const std::vector<float> words = one.floats(answer["outputs"][0]);
  std::memcpy(&value, words.data() + index, sizeof(value));
  return value;
}

void check_healthy() {
  GpuLauncher launcher;
  launcher.ready();
  test::LaunchCase one = test::vector_add_case(kN);
  one.output_bytes = 1 << 20;
  test::check_sums(one, one.run(launcher, add_plan(kN)));
}

std::string kind_of(const nlohmann::json& answer) {
  std::printf("  %s\n", answer.value("message", answer.dump()).c_str());
  return answer.value("kind", "");
}

}  // namespace

TEST_CASE("the facts of the device are plausible, and check_elf accepts the driver's cubin") {
  const auto begin = std::chrono::steady_clock::now();
  GpuLauncher launcher;
  const nlohmann::json device = launcher.ready();
  std::printf("start to ready: %.3f s; %s\n", seconds_since(begin), device.dump().c_str());
  CHECK(device["sms"] > 0);
  CHECK(device["l2_bytes"] > 1 << 20);
  CHECK(device["memory_bytes"] > 1LL << 30);
  CHECK(device["bandwidth_bytes_per_s"] > 100'000'000'000);
  CHECK(check_elf(image()));
}

TEST_CASE("a vector add is replayed correctly, case after case, on fresh inputs") {
  GpuLauncher launcher;
  launcher.ready();
  for (const std::uint32_t n : {1u, 1000u, kN, 1u << 24}) {
    test::LaunchCase one = test::vector_add_case(n);
    const auto begin = std::chrono::steady_clock::now();
    const nlohmann::json answer = one.run(launcher, add_plan(n));
    std::printf("vector add of %u: %.1f ms in all\n", n, 1e3 * seconds_since(begin));
    test::check_sums(one, answer);
    CHECK(answer["kernels"][0]["registers"] > 0);
  }
}

TEST_CASE("fills of every width, copies and constants") {
  GpuLauncher launcher;
  launcher.ready();
  Plan plan;
  plan.target = target();
  plan.buffers = {{BufferKind::scratch, 64, "", ""}, {BufferKind::constant, 4, "", "WXYZ"}};
  plan.ops = {FillOp{0, 0, 8, 1, 0x11},
              FillOp{0, 8, 2, 2, 0x2222},
              FillOp{0, 16, 2, 4, 0x33333333},
              FillOp{0, 24, 2, 8, 0x0807060504030201},
              FillOp{0, 40, 1, 8, 0x4444444444444444},
              CopyOp{0, 48, 1, 1, 3}};
  plan.outputs = {{0, 0, "int32", {16}, {1}}};
  test::LaunchCase one;
  const nlohmann::json answer = one.run(launcher, plan);
  constexpr std::uint32_t kUnset = kPoison * 0x00010001u;
  const std::vector<std::uint32_t> expected = {0x11111111, 0x11111111, 0x22222222, kUnset,
                                               0x33333333, 0x33333333, 0x04030201, 0x08070605,
                                               0x04030201, 0x08070605, 0x44444444, 0x44444444,
                                               0xFF5A5958, kUnset,     kUnset,     kUnset};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO(i);
    CHECK(static_cast<std::uint32_t>(first_int(one, answer, i)) == expected[i]);
  }
}

TEST_CASE("large dynamic shared memory and global scratch") {
  GpuLauncher launcher;
  launcher.ready();
  constexpr std::uint32_t kShared = 90'000;
  Plan plan = one_kernel_plan("through_shared", {PointerParam{0, 0}, GlobalScratchParam{128, 512},
                                                 ScalarParam{4, kShared - 4}});
  plan.binaries[0].shared_bytes = kShared;
  test::LaunchCase one;
  const nlohmann::json answer = one.run(launcher, plan);
  CHECK(first_int(one, answer) == 77);
  CHECK(answer["kernels"][0]["shared_bytes"] == kShared);
  plan.binaries[0].shared_bytes = 10 << 20;
  CHECK(kind_of(one.run(launcher, plan)) == "launch_failure");
}

TEST_CASE("a cooperative launch runs all of its blocks at the same time, or is refused") {
  GpuLauncher launcher;
  const std::uint32_t units = launcher.ready()["sms"];
  test::LaunchCase one;
  const auto meet = [&](std::uint32_t blocks) {
    Plan plan = one_kernel_plan("meet", {PointerParam{0, 0}, ScalarParam{4, blocks}});
    auto& op = std::get<KernelOp>(plan.ops[1]);
    op.grid = {blocks, 1, 1};
    op.block = {512, 1, 1};
    op.flags = kFlagCooperative;
    return one.run(launcher, plan);
  };
  for (const std::uint32_t blocks : {1u, units, 2 * units}) {
    INFO(blocks);
    CHECK(first_int(one, meet(blocks)) == static_cast<std::int32_t>(blocks));
  }
  const nlohmann::json refused = meet(64 * units);  // no GPU holds 64 blocks of 512 threads
  CHECK(kind_of(refused) == "launch_failure");
  if (test::kOverHip)
    CHECK(refused["message"].get<std::string>().find("more blocks than run at once") !=
          std::string::npos);
  // The launcher works after the refusal.
  CHECK(first_int(one, meet(units)) == static_cast<std::int32_t>(units));
}

TEST_CASE("dependent launches, and clusters on devices that have them") {
  GpuLauncher launcher;
  const nlohmann::json device = launcher.ready();
  Plan plan = one_kernel_plan("increment", {PointerParam{0, 0}});
  test::LaunchCase one;
  std::get<KernelOp>(plan.ops[1]).flags = kFlagDependentLaunch;
  if (test::kOverHip) {  // the HIP driver refuses both by name
    CHECK(kind_of(one.run(launcher, plan)) == "launch_failure");
    std::get<KernelOp>(plan.ops[1]).flags = 0;
    std::get<KernelOp>(plan.ops[1]).cluster = {2, 1, 1};
    std::get<KernelOp>(plan.ops[1]).grid = {4, 1, 1};
    CHECK(kind_of(one.run(launcher, plan)) == "launch_failure");
    return;
  }
  if (std::stod(device["cc"].get<std::string>()) < 9) return;
  CHECK(first_int(one, one.run(launcher, plan)) == 1);
  for (const std::uint32_t blocks : {2u, 8u, 16u}) {
    Plan clustered = one_kernel_plan("cluster_size", {PointerParam{0, 0}}, 256,
                                     test::assemble(test::kClusterKernel));
    std::get<KernelOp>(clustered.ops[1]).cluster = {blocks, 1, 1};
    std::get<KernelOp>(clustered.ops[1]).grid = {blocks * 2, 1, 1};
    INFO(blocks);
    CHECK(first_int(one, one.run(launcher, clustered)) == static_cast<std::int32_t>(blocks));
  }
}

TEST_CASE("parameters that the image does not declare are refused before the driver sees them") {
  if (test::kOverHip) return;  // HIP does not report the parameters of an image
  GpuLauncher launcher;
  launcher.ready();
  test::LaunchCase one = test::vector_add_case(kN);
  one.output_bytes = 1 << 20;
  for (const std::vector<KernelParam>& params :
       std::vector<std::vector<KernelParam>>{{PointerParam{0, 0}},
                                             {},
                                             std::vector<KernelParam>(5, PointerParam{0, 0}),
                                             std::vector<KernelParam>(4, PointerParam{0, 0})}) {
    Plan plan = add_plan(kN);
    std::get<KernelOp>(plan.ops[0]).params = params;
    CHECK(kind_of(one.run(launcher, plan)) == "invalid_plan");
  }
  test::check_sums(one, one.run(launcher, add_plan(kN)));
}

TEST_CASE("binaries that do not load are a launch_failure, and the process serves on") {
  GpuLauncher launcher;
  launcher.ready();
  test::LaunchCase one;
  CHECK(kind_of(one.run(launcher, one_kernel_plan("no_such_kernel", {}))) == "launch_failure");
  CHECK(kind_of(one.run(launcher, one_kernel_plan("increment", {PointerParam{0, 0}}, 256,
                                                  test::tiny_elf()))) == "launch_failure");
  CHECK(kind_of(one.run(launcher, one_kernel_plan("increment", {PointerParam{0, 0}}, 256,
                                                  test::kKernels))) == "invalid_plan");
  Plan cold = one_kernel_plan("increment", {PointerParam{0, 0}});
  cold.target = "cuda:10";
  CHECK(kind_of(one.run(launcher, cold)) == "invalid_plan");
  CHECK(first_int(one, one.run(launcher, one_kernel_plan("increment", {PointerParam{0, 0}}))) == 1);
}

TEST_CASE("the canaries detect a write on either side of a buffer") {
  GpuLauncher launcher;
  launcher.ready();
  test::LaunchCase one;
  for (const std::int64_t offset :
       {std::int64_t{256}, std::int64_t{4000}, std::int64_t{-1}, std::int64_t{-4096}}) {
    const auto raw = static_cast<std::uint64_t>(offset);
    INFO(offset);
    CHECK(kind_of(one.run(launcher, one_kernel_plan("write_byte",
                                                    {PointerParam{0, 0}, ScalarParam{8, raw}}))) ==
          "canary_violation");
  }
  CHECK(first_int(one, one.run(launcher, one_kernel_plan("increment", {PointerParam{0, 0}}))) == 1);
}

TEST_CASE("an illegal address is a gpu_fault; a new process is healthy") {
  {
    GpuLauncher launcher;
    launcher.ready();
    test::LaunchCase one;
    CHECK(kind_of(one.run(launcher, one_kernel_plan("illegal_address", {}))) == "gpu_fault");
    CHECK(kind_of(one.run(launcher, one_kernel_plan("increment", {PointerParam{0, 0}}))) ==
          "gpu_fault");
    launcher.close_socket();
    CHECK(WEXITSTATUS(launcher.reap()) == 0);
  }
  check_healthy();
}

TEST_CASE("an endless kernel is killed within 5 s and the GPU is healthy again") {
  GpuLauncher launcher(1'000);
  GpuLauncher neighbour;
  {
    Result<Frame> ready = receive_frame(launcher.socket(), Deadline::after_ms(20'000));
    REQUIRE(ready);
  }
  neighbour.ready();
  test::LaunchCase one;
  one.send(launcher, encode_plan(one_kernel_plan("endless", {PointerParam{0, 0}})));
  const Result<Frame> answer = launcher.receive();
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ErrorCode::resource_exhausted);
  const auto begin = std::chrono::steady_clock::now();
  const int status = launcher.kill_and_reap();
  std::printf("SIGKILL to reaped: %.3f s\n", seconds_since(begin));
  CHECK(WIFSIGNALED(status));
  check_healthy();
  CHECK(seconds_since(begin) < 5);
  std::printf("SIGKILL to healthy: %.3f s\n", seconds_since(begin));
  test::LaunchCase other = test::vector_add_case(kN);
  other.output_bytes = 1 << 20;
  test::check_sums(other, other.run(neighbour, add_plan(kN)));
}

TEST_CASE("memory: over the limit, and more than the device has") {
  GpuLauncher launcher;
  const nlohmann::json device = launcher.ready();
  test::LaunchCase one;
  one.gpu_memory_bytes = 1 << 20;
  one.output_bytes = 4 << 20;  // large enough that only the memory limit is exceeded
  CHECK(kind_of(one.run(launcher, one_kernel_plan("increment", {PointerParam{0, 0}}, 2 << 20))) ==
        "gpu_memory_limit");
  one.gpu_memory_bytes = 1ULL << 50;
  Plan huge = one_kernel_plan("increment", {PointerParam{0, 0}});
  huge.buffers[0].bytes = device["memory_bytes"];
  CHECK(kind_of(one.run(launcher, huge)) == "gpu_memory_limit");
  CHECK(first_int(one, one.run(launcher, one_kernel_plan("increment", {PointerParam{0, 0}}))) == 1);
}

TEST_CASE(
    "sampling stops when the interval is narrow, each run starts from the same inputs, and "
    "bandwidth bounds the time") {
  GpuLauncher launcher;
  const nlohmann::json device = launcher.ready();
  constexpr std::uint32_t kLarge = 1u << 26;  // 768 MiB of traffic
  for (const std::uint32_t n : {1u << 12, 1u << 20, kLarge}) {
    test::LaunchCase one = test::vector_add_case(n);
    one.gpu_memory_bytes = 4ULL << 30;
    one.time = true;
    one.max_samples = 5'000;
    const auto begin = std::chrono::steady_clock::now();
    const nlohmann::json answer = one.run(launcher, add_plan(n));
    test::check_sums(one, answer);
    const double median = answer["median_ns"];
    const double half =
        (answer["high_ns"].get<double>() - answer["low_ns"].get<double>()) / 2 / median;
    const std::size_t samples = answer["samples_ns"].size();
    const double floor = 12.0 * n / device["bandwidth_bytes_per_s"].get<double>() * 1e9;
    std::printf(
        "vector add of %u: median %.2f us, +-%.2f %%, %zu samples, floor %.2f us, %.2f s in all\n",
        n, median / 1e3, 100 * half, samples, floor / 1e3, seconds_since(begin));
    CHECK(samples >= 30);
    CHECK((half <= TimingRules{}.relative_half_width || seconds_since(begin) > 2 ||
           samples == 5'000));
    CHECK(median > floor * 0.95);
    if (n == kLarge) {
      CHECK(half <= 0.005);
      CHECK(median < floor * 2);
    }
  }
}

TEST_CASE(
    "new inputs are masked and unmasked correctly, and the first run on them takes no longer than "
    "later runs") {
  GpuLauncher launcher;
  launcher.ready();
  // The launcher masks new inputs in words of 8 bytes. 1 and kN are odd numbers of floats, so
  // inputs of these sizes fill only half of their last word.
  for (const std::uint32_t n : {1u, kN, 1u << 24}) {
    test::LaunchCase one = test::vector_add_case(n);
    one.time = one.stage_next_inputs = true;
    one.max_time_ms = 500;
    std::vector<double> over;
    for (int block = 0; block < 9; ++block) {
      one.send(launcher, encode_plan(add_plan(n)));
      const Result<Frame> primed = launcher.receive();
      REQUIRE(primed);
      REQUIRE(primed->type() == "primed");
      REQUIRE(
          send_frame(launcher.socket(), {{"type", "sample"}}, {}, {}, Deadline::after_ms(10'000)));
      const Result<Frame> answer = launcher.receive();
      REQUIRE(answer);
      test::check_sums(one, answer->header);
      if (answer->header.contains("first_run_ns"))
        over.push_back(answer->header["first_run_ns"].get<double>() -
                       answer->header["median_ns"].get<double>());
    }
    REQUIRE(over.size() >= 5);
    std::sort(over.begin(), over.end());
    const double median = over[over.size() / 2];
    std::printf("vector_add of %u: first runs take %.0f ns more (%.0f to %.0f)\n", n, median,
                over.front(), over.back());
    CHECK(median < 500);
  }
}

TEST_CASE(
    "blocking the stream hides the launch cost of the host: small kernels take their own time") {
  GpuLauncher launcher;
  launcher.ready();
  const auto median_of = [&](std::size_t launches) {
    Plan plan = one_kernel_plan("increment", {PointerParam{0, 0}});
    const PlanOp op = plan.ops[1];
    plan.ops.assign(1, plan.ops[0]);
    plan.ops.insert(plan.ops.end(), launches, op);
    test::LaunchCase one;
    one.time = true;
    const nlohmann::json answer = one.run(launcher, plan);
    CHECK(first_int(one, answer) == static_cast<std::int32_t>(launches));
    std::printf("%zu small kernels: median %.2f us, %zu samples\n", launches,
                answer["median_ns"].get<double>() / 1e3, answer["samples_ns"].size());
    return answer["median_ns"].get<double>();
  };
  const double few = median_of(10);
  const double many = median_of(200);
  const double per_kernel_ns = (many - few) / 190;
  std::printf("per kernel: %.2f us\n", per_kernel_ns / 1e3);
  CHECK(per_kernel_ns < 5'000);
  // 2,000 launches do not fit into the stream's queue while the stream is blocked. The outputs
  // are still correct, but the time contains gaps in which the GPU waits for the host.
  median_of(2'000);
}
