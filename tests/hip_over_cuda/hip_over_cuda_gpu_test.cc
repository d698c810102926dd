// Compares the launcher's HIP driver, over the stand-in libraries of this folder, with its CUDA
// driver on the same NVIDIA GPU, and kills launchers that use HIP. The tests need device 0 to be
// free. They write what they measure to the folder ASSAY_HIP_OVER_CUDA_RESULTS, if it is set.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.h"
#include "tests/gpu/gpu_launcher.h"
#include "tests/gpu/launcher_kernels.h"
#include "tests/sandbox/launcher/plan_samples.h"
#include "tests/sandbox/launcher/plan_writer.h"

using namespace assay;
using namespace assay::sandbox;
using test::GpuLauncher;

namespace {

constexpr int kKills = 50;
constexpr int kRepeats = 5;             // odd, so that there is a middle one
constexpr double kShortNs = 10'000;     // below this, the times are not compared
constexpr double kLargestRatio = 0.02;  // the largest relative difference of the medians

void store(const std::string& name, const nlohmann::json& found) {
  std::printf("%s: %s\n", name.c_str(), found.dump().c_str());
  const char* folder = std::getenv("ASSAY_HIP_OVER_CUDA_RESULTS");
  if (folder == nullptr) return;
  std::ofstream file(std::string(folder) + "/" + name + ".json");
  file << found.dump(1) << '\n';
  REQUIRE(file.good());
}

std::string target_of(GpuLauncher& launcher) { return launcher.ready()["target"]; }

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Plan one_kernel(const std::string& kernel, const std::string& target) {
  static const std::string image = test::assemble(test::kKernels);
  Plan plan;
  plan.target = target;
  plan.buffers = {{BufferKind::scratch, 256, "", ""}};
  plan.binaries = {{kernel, 0, image}};
  KernelOp op;
  op.params = {PointerParam{0, 0}};
  plan.ops = {FillOp{0, 0, 256, 1, 0}, op};
  plan.outputs = {{0, 0, "int32", {64}, {1}}};
  return plan;
}

}  // namespace

TEST_CASE("a plan takes the same time through HIP as through CUDA") {
  GpuLauncher over_hip(20'000, true), over_cuda(20'000, false);
  const std::string target = target_of(over_hip);
  REQUIRE(target_of(over_cuda) == target);
  const std::string image = test::assemble(test::kKernels);
  nlohmann::json rows = nlohmann::json::array();
  for (const std::uint32_t n : {1U << 12, 1U << 20, 1U << 22, 1U << 24}) {
    Plan plan = test::vector_add_plan(n, "vector_add", image);
    plan.target = target;
    test::LaunchCase one = test::vector_add_case(n);
    one.gpu_memory_bytes = 4ULL << 30;
    one.time = true;
    one.max_time_ms = 300;
    std::map<bool, std::vector<double>> times;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      for (const bool hip : {repeat % 2 == 0, repeat % 2 != 0}) {
        const nlohmann::json answer = one.run(hip ? over_hip : over_cuda, plan);
        if (repeat == 0) test::check_sums(one, answer);
        REQUIRE(answer["type"] == "launched");
        times[hip].push_back(answer["median_ns"]);
      }
    }
    const double hip_ns = middle(times[true]), cuda_ns = middle(times[false]);
    rows.push_back({{"elements", n},
                    {"hip_ns", hip_ns},
                    {"cuda_ns", cuda_ns},
                    {"hip_over_cuda", hip_ns / cuda_ns},
                    {"all_hip_ns", times[true]},
                    {"all_cuda_ns", times[false]}});
    INFO(n << " elements: " << hip_ns << " ns with HIP, " << cuda_ns << " ns with CUDA");
    CHECK((cuda_ns < kShortNs || std::abs(hip_ns / cuda_ns - 1) <= kLargestRatio));
  }
  store("launcher-times", rows);
}

TEST_CASE("a launcher over HIP is killed at a random moment of its work, and the next one works") {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> delay_us(0, 3'000);
  std::vector<double> start_ms;
  std::string target;
  for (int kill = 0; kill < kKills; ++kill) {
    const auto begin = std::chrono::steady_clock::now();
    GpuLauncher launcher(20'000, true);
    target = target_of(launcher);
    start_ms.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
            .count());
    test::LaunchCase one;
    one.send(launcher, encode_plan(one_kernel(kill % 2 == 0 ? "endless" : "increment", target)));
    // The moment of the kill varies; the test passes whichever it is.
    std::this_thread::sleep_for(std::chrono::microseconds(delay_us(random)));
    CHECK(WIFSIGNALED(launcher.kill_and_reap()));
  }
  GpuLauncher after(20'000, true);
  after.ready();
  test::LaunchCase one;
  const nlohmann::json answer = one.run(after, one_kernel("increment", target));
  CHECK(answer["type"] == "launched");
  store("kills", {{"kills", kKills},
                  {"works_after", answer["type"] == "launched"},
                  {"median_start_ms", middle(start_ms)},
                  {"longest_start_ms", *std::max_element(start_ms.begin(), start_ms.end())}});
}
