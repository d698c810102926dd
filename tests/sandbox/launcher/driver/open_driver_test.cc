#include "sandbox/launcher/driver/open_driver.h"

#include <string>

#include "tests/catch.h"

namespace assay::sandbox::stub {

/// A driver API with `devices` devices. Device number `broken` cannot be read.
struct Api {
  int devices = 0;
  int broken = -1;
};

Result<int> count_devices(const Api& api) { return api.devices; }
Result<DeviceFacts> read_device_facts(const Api& api, int index) {
  if (index == api.broken)
    return fail(ErrorCode::unavailable, "device " + std::to_string(index) + " is broken");
  DeviceFacts facts;
  facts.name = "device " + std::to_string(index);
  return facts;
}

}  // namespace assay::sandbox::stub

using namespace assay;
using namespace assay::sandbox;

namespace {

Result<const stub::Api*> with(const stub::Api& api) { return &api; }

}  // namespace

TEST_CASE("devices are listed in their order, and the list says which one is broken") {
  const stub::Api three{.devices = 3};
  const auto listed = list_devices(with(three));
  REQUIRE(listed);
  REQUIRE(listed->size() == 3);
  CHECK(listed->back().name == "device 2");
  const stub::Api sick{.devices = 3, .broken = 1};
  CHECK(list_devices(with(sick)).error().message == "device 1 is broken");
  const Result<const stub::Api*> none = fail(ErrorCode::unavailable, "no driver");
  CHECK(list_devices(none).error().message == "no driver");
}

TEST_CASE(
    "a device is opened even if its neighbours are broken, and the error for a wrong index names "
    "the valid ones") {
  const stub::Api sick{.devices = 3, .broken = 1};
  CHECK(device_at(with(sick), 2, "CUDA")->name == "device 2");
  CHECK(device_at(with(sick), 1, "CUDA").error().message == "device 1 is broken");
  CHECK(device_at(with(sick), 3, "CUDA").error().message ==
        "there is no CUDA device 3; valid: 0 to 2");
  CHECK(device_at(with(sick), -1, "HIP").error().message ==
        "there is no HIP device -1; valid: 0 to 2");
  const stub::Api empty;
  CHECK(device_at(with(empty), 0, "HIP").error().message ==
        "there is no HIP device 0; valid: none");
}
