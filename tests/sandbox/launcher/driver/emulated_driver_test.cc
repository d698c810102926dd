// Tests EmulatedDriver with a script that answers as an emulator does. The script adds one to the
// first byte behind each launch's first argument, so that the shared memory is tested too.
#include "sandbox/launcher/driver/emulated_driver.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

constexpr const char* kScript = R"(#!/usr/bin/env python3
import json, mmap, socket, struct, sys
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
base = int(options["--base"])
memory = mmap.mmap(int(options["--memory-fd"]), int(options["--bytes"]))
stream = socket.socket(fileno=int(options["--socket-fd"])).makefile("rw")
print(json.dumps({"ready": "script for " + options["--target"]}), file=stream, flush=True)
for line in stream:
    request = json.loads(line)
    if request["kernel"] == "end":
        sys.exit(1)
    if request["kernel"] == "unknown":
        print(json.dumps({"error": "no such instruction"}), file=stream, flush=True)
        continue
    at = request["arguments"][0] - base
    target, _, number = struct.unpack_from("<QI4xQ", memory, at)
    memory[target - base] += number + request["grid"][1]
    print("{}", file=stream, flush=True)
)";

std::string script() {
  const std::string path =
      std::filesystem::temp_directory_path() / ("assay-emulator-" + std::to_string(::getpid()));
  std::ofstream(path) << kScript;
  ::chmod(path.c_str(), 0700);
  return path;
}

}  // namespace

TEST_CASE("the emulator gets the arguments of a launch, and shares the device's memory") {
  const std::string program = script();
  Result<EmulatorProcess> started = start_emulator(program, "hip:gfx942");
  std::filesystem::remove(program);
  REQUIRE(started);
  CHECK(started->name == "script for hip:gfx942");
  const std::unique_ptr<GpuDriver> gpu = make_emulated_driver(std::move(*started));
  CHECK(gpu->facts().target == "hip:gfx942");
  CHECK(check_health(*gpu));

  const DevicePtr byte = gpu->allocate(1).value();
  REQUIRE(gpu->fill_async(byte, 1, 1, 7));
  const KernelHandle add = gpu->load("image", "add", 0).value();
  const std::array<ParamValue, 3> params{{{byte, 8}, {1, 4}, {5, 8}}};
  LaunchShape shape;
  shape.grid[1] = 3;
  REQUIRE(gpu->launch_async(add, shape, params));
  std::array<std::byte, 1> got{};
  REQUIRE(gpu->read(got, byte));
  CHECK(got[0] == std::byte{15});

  shape.cluster[0] = 2;
  CHECK(gpu->launch_async(add, shape, params).error().message.find("neither clusters") !=
        std::string::npos);
  shape.cluster[0] = 1;
  shape.cooperative = true;
  CHECK(gpu->launch_async(add, shape, params).error().message.find("more than one block") !=
        std::string::npos);
  shape.grid[1] = 1;
  CHECK(gpu->launch_async(add, shape, params));  // as an ordinary launch of one block
  shape.cooperative = false;
  const KernelHandle unknown = gpu->load("image", "unknown", 0).value();
  const LaunchStatus refused = gpu->launch_async(unknown, shape, params);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == LaunchErrorKind::launch_failure);
  CHECK(refused.error().message == "the emulator: no such instruction");
  CHECK(gpu->synchronize());

  const auto map = std::make_shared<const TensorMap>();
  const std::array<ParamValue, 1> descriptor{{{0, 128, map}}};
  CHECK(gpu->launch_async(add, shape, descriptor).error().message.find("no tensor maps") !=
        std::string::npos);

  const KernelHandle end = gpu->load("image", "end", 0).value();
  const LaunchStatus lost = gpu->launch_async(end, shape, params);
  REQUIRE_FALSE(lost);
  CHECK(lost.error().kind == LaunchErrorKind::gpu_fault);
  CHECK_FALSE(gpu->synchronize());
}

TEST_CASE("a program that is no emulator is an error") {
  const Result<EmulatorProcess> started = start_emulator("/nowhere/emulator", "hip:gfx942");
  REQUIRE_FALSE(started);
  CHECK(started.error().message.find("/nowhere/emulator is no emulator") != std::string::npos);
}
