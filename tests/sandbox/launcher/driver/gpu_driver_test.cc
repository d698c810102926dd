#include "sandbox/launcher/driver/gpu_driver.h"

#include "sandbox/launcher/driver/fake_driver.h"
#include "tests/catch.h"

using namespace assay::sandbox;

namespace {

/// A device on which copies from device to device have no effect.
class Forgetful final : public FakeDriver {
 public:
  LaunchStatus copy_async(DevicePtr, DevicePtr, std::uint64_t) override { return {}; }
};

}  // namespace

TEST_CASE("a device that fills, copies and reads back is healthy, and all memory is freed") {
  FakeDriver gpu(1 << 20);
  for (int i = 0; i < 10; ++i) CHECK(check_health(gpu));
}

TEST_CASE("a device whose kernels can access host memory lacks a layer, and the error says a way") {
  DeviceFacts facts{.target = "cuda:90"};
  CHECK(check_host_memory(facts));
  facts.reaches_host_memory = true;
  CHECK(check_host_memory(facts).error().message.find("uvm_disable_hmm=1") != std::string::npos);
  facts.target = "hip:gfx942";
  CHECK(check_host_memory(facts).error().message.find("HSA_XNACK=0") != std::string::npos);
}

TEST_CASE("a device that loses data, is lost or is full fails its check") {
  Forgetful forgetful;
  const LaunchStatus wrong = check_health(forgetful);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message.find("the device fails its check: word 0 reads") !=
        std::string::npos);
  FakeDriver lost;
  lost.lose_memory();
  CHECK_FALSE(check_health(lost));
  FakeDriver full(1024);
  const LaunchStatus no_room = check_health(full);
  REQUIRE_FALSE(no_room);
  CHECK(no_room.error().kind == LaunchErrorKind::device_full);
}
