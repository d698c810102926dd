#include "sandbox/device/choose_device.h"

#include <string>

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

TEST_CASE("auto is the first GPU, and the CPU without a GPU, with the reason") {
  DriverProbe found{.driver = "cuda", .gpus = {DeviceFacts{}}, .reason = ""};
  CHECK(choose_auto(found).name == "cuda:0");
  CHECK(choose_auto(found).no_gpu.empty());
  found = {.driver = "cuda", .gpus = {}, .reason = "no CUDA driver"};
  CHECK(choose_auto(found).name == "cpu");
  CHECK(choose_auto(found).no_gpu == "no CUDA driver");
}

TEST_CASE("every other value of --device is the device itself, and no launcher is started") {
  SandboxConfig config;
  config.launcher = "/nowhere/assay-launcher";
  for (const char* name : {"cpu", "fake", "cuda:3", "tpu"}) {
    CHECK(choose_device(name, config).name == name);
    CHECK(choose_device(name, config).no_gpu.empty());
  }
  const DeviceChoice without = choose_device("auto", config);
  CHECK(without.name == "cpu");
  CHECK(without.no_gpu.find("/nowhere/assay-launcher") != std::string::npos);
}

TEST_CASE("the launcher that this build has is asked") {
  SandboxConfig config;
  config.launcher = ASSAY_BINARY_DIR "/bin/assay-launcher";
  const DriverProbe found = probe_driver(config, "cuda");
  const DeviceChoice choice = choose_device("auto", config);
  CHECK(choice.name == (found.gpus.empty() ? "cpu" : "cuda:0"));
  CHECK(choose_auto(probe_driver(config, "fake")).name == "cuda:0");
}

TEST_CASE("an unknown value of --device is named with the valid ones") {
  for (const char* good : {"auto", "cpu", "cuda:1", "fake"}) CHECK(check_device_option(good));
  const Status known = check_device_option("gpu");
  REQUIRE_FALSE(known);
  CHECK(known.error().message ==
        "unknown device 'gpu'; valid: cpu, cuda:N, hip:N, emulated, fake, auto");
  CHECK(device_option_help() ==
        "auto (the first GPU, or cpu if no GPU is usable), cpu, cuda:N, hip:N, emulated or fake");
}
