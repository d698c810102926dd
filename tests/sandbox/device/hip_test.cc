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
