// Tests the stand-in libraries for HIP on a machine without a GPU: the launcher, with its HIP
// driver, performs plans over the stand-in libraries and over a fake CUDA driver (fake_cuda.cc). On
// an NVIDIA GPU, tests/gpu/test_hip_over_cuda.py performs real plans. ctest sets LD_LIBRARY_PATH to
// the folder of the fake driver.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "sandbox/jail/amd_nodes.h"
#include "sandbox/launcher/driver/hip_api.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/launcher_process.h"
#include "tests/sandbox/launcher/plan_samples.h"
#include "tests/sandbox/launcher/plan_writer.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

struct HipLauncher : test::LauncherProcess {
  explicit HipLauncher(std::int64_t answer_ms = 20'000)
      : LauncherProcess("hip", answer_ms, {},
                        std::string(ASSAY_BINARY_DIR) + "/bin/assay-launcher-hip-over-cuda") {}
};

Plan one_kernel(const std::string& kernel, std::vector<KernelParam> params) {
  Plan plan;
  plan.target = "cuda:90";
  plan.buffers = {{BufferKind::scratch, 256, "", ""}};
  plan.binaries = {{kernel, 0, test::tiny_elf()}};
  KernelOp op;
  op.params = std::move(params);
  plan.ops = {FillOp{0, 0, 256, 1, 0}, op};
  plan.outputs = {{0, 0, "int32", {64}, {1}}};
  return plan;
}

}  // namespace

TEST_CASE("the stand-in library has each function of HIP that the launcher loads") {
  const std::string path = std::string(ASSAY_BINARY_DIR) + "/hip_over_cuda/libamdhip64.so.7";
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
#define ASSAY_HAS(symbol, ...) CHECK(::dlsym(library, #symbol) != nullptr);
  ASSAY_HIP_FUNCTIONS(ASSAY_HAS)
  ASSAY_HIP_NEWER_FUNCTIONS(ASSAY_HAS)
#undef ASSAY_HAS
}

TEST_CASE("the linker replaces the three functions that look for AMD's GPUs") {
  namespace fs = std::filesystem;
  const fs::path dev = fs::temp_directory_path() / ("assay-kfd-" + std::to_string(::getpid()));
  fs::create_directories(dev);
  std::ofstream(dev / "kfd") << "x";
  const AmdPlaces places{(dev / "nodes").string(), dev.string()};
  for (const std::string& file : amd_device_files(places)) CHECK(file.find("/dev/nvidia") == 0);
  fs::remove_all(dev);
  CHECK(amd_target_at("0000:c1:00.0", places).value() == "cuda:90");
  CHECK(hip::library_folder().ends_with("/hip_over_cuda/fake"));
}

TEST_CASE("the launcher performs and times a plan through HIP over CUDA") {
  HipLauncher launcher;
  const nlohmann::json device = launcher.ready();
  CHECK(device["name"] == "Fake CUDA GPU");
  CHECK(device["target"] == "cuda:90");
  CHECK(device["sms"] == 4);
  test::LaunchCase one = test::vector_add_case(1003);
  Plan plan = test::vector_add_plan(1003, "fake_vector_add", test::tiny_elf());
  plan.target = "cuda:90";
  test::check_sums(one, one.run(launcher, plan));
  one.time = true;
  one.max_samples = 40;
  const nlohmann::json timed = one.run(launcher, plan);
  test::check_sums(one, timed);
  CHECK(timed["median_ns"] > 0);
}

TEST_CASE("through HIP over CUDA, canaries, faults and missing kernels have their kinds") {
  HipLauncher launcher;
  launcher.ready();
  test::LaunchCase one;
  const auto kind = [&](const Plan& plan) { return one.run(launcher, plan).value("kind", ""); };
  for (const std::uint64_t offset : {std::uint64_t{256}, ~std::uint64_t{0}}) {
    CHECK(kind(one_kernel("fake_write_byte", {PointerParam{0, 0}, ScalarParam{8, offset}})) ==
          "canary_violation");
  }
  CHECK(kind(one_kernel("no_such_kernel", {})) == "launch_failure");
  CHECK(kind(one_kernel("fake_illegal_address", {})) == "gpu_fault");
}

TEST_CASE("through HIP over CUDA, a cooperative launch runs if all of its blocks fit on the GPU") {
  HipLauncher launcher;
  launcher.ready();
  test::LaunchCase one = test::vector_add_case(1003);
  Plan plan = test::vector_add_plan(1003, "fake_vector_add", test::tiny_elf());
  plan.target = "cuda:90";
  auto& op = std::get<KernelOp>(plan.ops[0]);
  op.flags = kFlagCooperative;
  op.grid = {4, 2, 1};  // the fake GPU has 4 multiprocessors, and each takes 2 blocks
  test::check_sums(one, one.run(launcher, plan));
  op.grid = {3, 3, 1};
  const nlohmann::json refused = one.run(launcher, plan);
  CHECK(refused["kind"] == "launch_failure");
  CHECK(refused["message"].get<std::string>().find("at most 8 (2 on each of 4 compute units)") !=
        std::string::npos);
}

TEST_CASE("a launcher with an endless kernel is killed, and a new one works") {
  {
    HipLauncher launcher(500);
    REQUIRE(receive_frame(launcher.socket(), Deadline::after_ms(20'000)));
    test::LaunchCase one;
    one.send(launcher, encode_plan(one_kernel("fake_endless", {})));
    const Result<Frame> answer = launcher.receive();
    REQUIRE_FALSE(answer);
    CHECK(WIFSIGNALED(launcher.kill_and_reap()));
  }
  HipLauncher next;
  next.ready();
}
