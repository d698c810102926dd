#include "sandbox/device/hip.h"

#include <string>

#include "sandbox/jail/amd_nodes.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

TEST_CASE("an AMD GPU that cannot be opened is an error that names the remedy") {
  const std::string problem = amd_problem(read_amd_machine());
  if (problem.empty()) return;  // this machine has an AMD GPU
  const auto device = make_hip_device(SandboxConfig{}, 0);
  REQUIRE_FALSE(device);
  CHECK(device.error().code == ErrorCode::unavailable);
  CHECK(device.error().message == "device hip:0 cannot be used: " + problem +
                                      "; `assay doctor` lists this machine's devices");
}

TEST_CASE("a GPU that HIP does not count, or of which there are no facts, is named") {
  DeviceFacts known, unknown;
  known.target = "hip:gfx942";
  unknown.name = "AMD Radeon RX 7900";
  unknown.target = "hip:gfx1100";
  const DriverProbe two{"hip", {known, unknown}, ""};
  CHECK(hip_problem(two, 0).empty());
  CHECK(hip_problem(two, 1).find("AMD Radeon RX 7900 has the target hip:gfx1100, of which Assay "
                                 "has no facts; valid: cuda:80") == 0);
  CHECK(hip_problem(two, 2).find("valid: hip:0 to hip:1 (HIP_VISIBLE_DEVICES") == 0);
  CHECK(hip_problem({"hip", {}, "the reason"}, 0) == "the reason");
}
