#include "sandbox/device/make_device.h"

#include <string>

#include "sandbox/device/fake.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

TEST_CASE("the device names are those of the table, with a number if the pattern has one") {
  for (const char* good : {"cpu", "fake", "emulated", "cuda:0", "cuda:12", "cuda:999", "hip:0"})
    CHECK(check_device_name(good));
  for (const char* bad :
       {"", "tpu", "CPU", "cpu:0", "cuda", "cuda:", "cuda:N", "cuda:x", "cuda:1x", "cuda:-1",
        "cuda:+1", "cuda: 1", "cuda:9999", "cuda:99999999999", "hip", "hip:x"}) {
    INFO(bad);
    const Status known = check_device_name(bad);
    REQUIRE_FALSE(known);
    CHECK(known.error().code == ErrorCode::invalid_argument);
    CHECK(known.error().message ==
          "unknown device '" + std::string(bad) + "'; valid: cpu, cuda:N, hip:N, emulated, fake");
  }
  CHECK(device_names_help() == "cpu, cuda:N, hip:N, emulated or fake");
}

TEST_CASE("only a GPU measures times") {
  CHECK(can_time("cuda:0"));
  CHECK(can_time("hip:0"));
  CHECK_FALSE(can_time("emulated"));
  CHECK_FALSE(can_time("cpu"));
  CHECK_FALSE(can_time("fake"));
  CHECK_FALSE(can_time("tpu"));
}

TEST_CASE("only a GPU accepts grades that run under a sanitizer") {
  SandboxConfig config;
  config.sanitize = true;
  for (const char* name : {"cpu", "fake"}) {
    const auto device = make_device(name, config);
    REQUIRE_FALSE(device);
    CHECK(device.error().code == ErrorCode::invalid_argument);
    CHECK(device.error().message.find("--sanitize needs an NVIDIA GPU") != std::string::npos);
  }
}

TEST_CASE("a device without a jail needs a permission") {
  SandboxConfig config;
  config.python = "/nowhere/python";
  const auto refused = make_device("emulated", config);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK(refused.error().message.find("--allow-unjailed-device") != std::string::npos);
  config.allow_unjailed = true;
  const auto allowed = make_device("emulated", config);
  REQUIRE_FALSE(allowed);  // there is no emulator here
  CHECK(allowed.error().code == ErrorCode::unavailable);
}

TEST_CASE("a device that starts processes names the file that it lacks") {
  SandboxConfig config;
  config.python = "/nowhere/python";
  const auto device = make_device("cpu", config);
  REQUIRE_FALSE(device);
  CHECK(device.error().message ==
        "no Python interpreter at '/nowhere/python'; ./run setup makes it");
  const auto fake = make_device("fake", config);
  REQUIRE(fake);
  CHECK((*fake)->info().can_time == can_time("fake"));
}
