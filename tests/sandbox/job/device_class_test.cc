#include "sandbox/job/device_class.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

sandbox::DeviceInfo h200() {
  return {.name = "cuda:0",
          .description = "NVIDIA H200, 132 SMs",
          .default_target = "cuda:90",
          .hardware = {.name = "NVIDIA H200",
                       .memory_bytes = (139LL << 30) + 900'000'000,
                       .driver = "580.1",
                       .clock_khz = 1'980'000,
                       .bandwidth_bytes_per_s = 4'917'000'000'000}};
}

}  // namespace

TEST_CASE("devices of one class can be compared") {
  CHECK(class_difference(h200(), h200()).empty());
  sandbox::DeviceInfo other = h200();
  other.name = "cuda:1";  // another index of another machine
  other.hardware.memory_bytes -= 50'000'000;
  CHECK(class_difference(h200(), other).empty());
}

TEST_CASE("each part of a device class is compared, and the difference names it") {
  const auto changed = [](auto change) {
    sandbox::DeviceInfo other = h200();
    change(other);
    return class_difference(h200(), other);
  };
  CHECK(changed([](auto& one) { one.hardware.name = "NVIDIA H100"; }) ==
        "GPU is 'NVIDIA H100', and that of the pool is 'NVIDIA H200'");
  CHECK(changed([](auto& one) { one.hardware.memory_bytes = 80LL << 30; }) ==
        "memory is '80 GiB', and that of the pool is '139 GiB'");
  CHECK(changed([](auto& one) { one.hardware.driver = "570.1\x1b"; }) ==
        "driver is '570.1\\x1b', and that of the pool is '580.1'");
  CHECK(changed([](auto& one) { one.hardware.clock_khz = 1'755'000; }) ==
        "highest clock is '1755 MHz', and that of the pool is '1980 MHz'");
  CHECK(changed([](auto& one) { one.hardware.bandwidth_bytes_per_s = 3'350'000'000'000; }) ==
        "bandwidth is '3350 GB/s', and that of the pool is '4917 GB/s'");
  CHECK(changed([](auto& one) { one.description = "NVIDIA H200, 66 SMs"; }) ==
        "device is 'NVIDIA H200, 66 SMs', and that of the pool is 'NVIDIA H200, 132 SMs'");
}

TEST_CASE("grades can be compared if the GPUs are of one class or no device measures times") {
  const auto pool = [](const std::string& name, bool can_time, sandbox::DeviceClass hardware) {
    return sandbox::DeviceInfo{.name = name,
                               .description = "at most 4 workers of " + name,
                               .can_time = can_time,
                               .default_target = {},
                               .hardware = std::move(hardware)};
  };
  sandbox::DeviceInfo local = h200();
  local.can_time = true;
  CHECK(grades_can_be_compared(local, pool("many", true, local.hardware)));
  CHECK(grades_can_be_compared(pool("many", true, local.hardware), local));
  sandbox::DeviceClass h100 = local.hardware;
  h100.name = "NVIDIA H100";
  CHECK_FALSE(grades_can_be_compared(local, pool("many", true, h100)));
  sandbox::DeviceClass older = local.hardware;
  older.driver = "570.1";
  CHECK_FALSE(grades_can_be_compared(local, pool("many", true, older)));

  CHECK(grades_can_be_compared(pool("cpu", false, {}), pool("cpus", false, {})));
  CHECK_FALSE(grades_can_be_compared(local, pool("cpu", false, {})));
}

TEST_CASE("a GPU whose class is not known yet can be compared with itself only") {
  sandbox::DeviceInfo starting{
      .name = "cuda:0", .description = "starting", .can_time = true, .default_target = {}};
  CHECK(grades_can_be_compared(starting, starting));
  sandbox::DeviceInfo other = starting;
  other.name = "cuda:1";
  CHECK_FALSE(grades_can_be_compared(starting, other));
}
