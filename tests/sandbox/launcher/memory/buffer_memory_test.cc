#include "sandbox/launcher/memory/buffer_memory.h"

#include <cmath>
#include <cstring>

#include "sandbox/launcher/driver/fake_driver.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

constexpr std::uint64_t kSmallBytes = 1000, kLargeBytes = 3 << 20;

/// Adds a small, a large and a strictly aligned buffer, and returns their addresses.
std::vector<DevicePtr> add_three(GuardedMemory& memory) {
  std::vector<DevicePtr> added = {memory.add(kSmallBytes, kBufferAlignment, "small").value(),
                                  memory.add(kLargeBytes, kBufferAlignment, "large").value(),
                                  memory.add(kSmallBytes, 4096, "aligned").value()};
  REQUIRE(memory.fill_guards());
  return added;
}

}  // namespace

TEST_CASE("a driver that prefers it makes one allocation for all buffers, with the same guards") {
  for (const bool one : {false, true}) {
    FakeDriver gpu;
    if (one) gpu.prefer_one_allocation();
    {
      GuardedMemory memory(gpu);
      REQUIRE(memory.reserve({{kSmallBytes}, {kLargeBytes}, {kSmallBytes, 4096}}));
      const std::vector<DevicePtr> buffers = add_three(memory);
      CHECK(gpu.calls().allocations == (one ? 1 : 3));
      CHECK(buffers[2] % 4096 == 0);
      CHECK(buffers[1] >= buffers[0] + kSmallBytes + 2 * kGuardBytes);
      CHECK(buffers[2] >= buffers[1] + kLargeBytes + 2 * kGuardBytes);
      REQUIRE(memory.check());
      for (const DevicePtr stray : {buffers[0] + kSmallBytes, buffers[1] - 1,
                                    buffers[1] + kLargeBytes, buffers[2] - kGuardBytes}) {
        REQUIRE(gpu.fill_async(stray, 1, 1, 0));
        const LaunchStatus found = memory.check();
        REQUIRE_FALSE(found);
        CHECK(found.error().kind == LaunchErrorKind::canary_violation);
        REQUIRE(gpu.fill_async(stray, 1, 1, std::to_integer<unsigned>(guard_byte(stray))));
      }
      // A buffer that was not reserved gets an allocation of its own.
      REQUIRE(memory.add(kLargeBytes, kBufferAlignment, "unexpected"));
      REQUIRE(memory.fill_guards());
      CHECK(gpu.calls().allocations == (one ? 2 : 4));
      REQUIRE(memory.check());
    }
    CHECK(gpu.allocated_bytes() == 0);
  }
}

TEST_CASE("if one allocation for all buffers does not fit, each buffer gets its own") {
  FakeDriver gpu;
  gpu.prefer_one_allocation();
  gpu.leave_memory(1 << 20);
  GuardedMemory memory(gpu);
  REQUIRE(memory.reserve({{kSmallBytes}, {kLargeBytes}}));
  CHECK(gpu.allocated_bytes() == 0);
  CHECK(memory.add(kSmallBytes, kBufferAlignment, "small"));
  const auto large = memory.add(kLargeBytes, kBufferAlignment, "large");
  REQUIRE_FALSE(large);
  CHECK(large.error().kind == LaunchErrorKind::device_full);
}

TEST_CASE("what a kernel reads past a buffer is not a number in any format of 16 bits or more") {
  for (const std::uint64_t bytes : {kSmallBytes, kSmallBytes + 1}) {
    FakeDriver gpu;
    GuardedMemory memory(gpu);
    const DevicePtr data = memory.add(bytes, kBufferAlignment, "x").value();
    REQUIRE(memory.fill_guards());
    REQUIRE(memory.check());
    for (const DevicePtr from : {data - kGuardBytes, (data + bytes + 7) / 8 * 8}) {
      std::vector<std::byte> guard(1024);
      REQUIRE(gpu.read(guard, from));
      for (std::size_t at = 0; at < guard.size(); at += 8) {
        double whole = 0;
        float half = 0;
        std::uint16_t word = 0;
        std::memcpy(&whole, &guard[at], sizeof whole);
        std::memcpy(&half, &guard[at], sizeof half);
        std::memcpy(&word, &guard[at], sizeof word);
        CHECK((std::isnan(whole) && std::isnan(half)));
        CHECK(((word & 0x7C00) == 0x7C00 && (word & 0x03FF) != 0));  // float16
        CHECK(((word & 0x7F80) == 0x7F80 && (word & 0x007F) != 0));  // bfloat16
      }
    }
  }
}

TEST_CASE("a memory checker gets one allocation for each buffer, without guards") {
  FakeDriver gpu;
  gpu.prefer_one_allocation();
  GuardedMemory memory(gpu, GuardedMemory::Guards::none);
  REQUIRE(memory.reserve({{kSmallBytes}, {kSmallBytes}}));
  CHECK(gpu.calls().allocations == 0);
  REQUIRE(memory.add(kSmallBytes, kBufferAlignment, "exact"));
  CHECK(gpu.allocated_bytes() == kSmallBytes);
}
