#include "sandbox/device/emulated.h"

#include <cstdlib>
#include <string>

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

TEST_CASE("without an emulator, the emulated device says how to name one") {
  if (std::getenv("ASSAY_EMULATOR") != nullptr) return;
  const auto device = make_emulated_device(SandboxConfig{});
  REQUIRE_FALSE(device);
  CHECK(device.error().code == ErrorCode::unavailable);
  CHECK(device.error().message.find("set ASSAY_EMULATOR to the absolute path") !=
        std::string::npos);
}
