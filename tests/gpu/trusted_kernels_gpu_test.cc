// Tests the launcher's own kernels on a real NVIDIA GPU, and what is found out if a submission
// overwrites them. The tests need device 0 to be free.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "sandbox/launcher/memory/trusted_kernels.h"
#include "sandbox/launcher/timing/timing.h"
#include "sandbox/timing/statistics.h"
#include "tests/catch.h"
#include "tests/gpu/gpu_launcher.h"
#include "tests/gpu/launcher_kernels.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

std::unique_ptr<GpuDriver> open() { return test::open_gpu_driver(); }

/// Allocates a buffer with the bytes 0, 1, 2, ...
DevicePtr counting(GpuDriver& gpu, std::uint64_t bytes) {
  std::vector<std::byte> host(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) host[i] = static_cast<std::byte>(i % 251);
  const DevicePtr memory = gpu.allocate(bytes).value();
  REQUIRE(gpu.write(memory, host));
  return memory;
}

std::vector<std::byte> contents(GpuDriver& gpu, DevicePtr memory, std::uint64_t bytes) {
  std::vector<std::byte> host(bytes);
  REQUIRE(gpu.read(host, memory));
  return host;
}

/// Returns a kernel that has the parameters of a trusted kernel and does nothing. A submission can
/// overwrite the code of a trusted kernel so that it does nothing.
std::string empty_kernel(const std::string& name, const std::string& parameters) {
  return test::assemble(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry " + name +
                        "(" + parameters + ") { ret; }\n");
}

// The kernels get their handles in the order in which TrustedKernels::load() loads them, because
// the driver is new. refresh() keeps the handles.
constexpr KernelHandle kDiffer = 3, kFill = 5;

void overwrite(GpuDriver& gpu, KernelHandle kernel) {
  static const std::string differ =
      empty_kernel("assay_differ",
                   ".param .u64 a, .param .u64 b, .param .u64 words, .param .u64 rest, "
                   ".param .u64 out");
  static const std::string fill = empty_kernel(
      "assay_fill", ".param .u64 to, .param .u64 words, .param .u64 rest, .param .u32 pattern");
  const bool is_fill = kernel == kFill;
  REQUIRE(gpu.reload(kernel, is_fill ? fill : differ, is_fill ? "assay_fill" : "assay_differ", 0));
}

}  // namespace

TEST_CASE("trusted kernels fill, copy and compare memory of every size and alignment") {
  const std::unique_ptr<GpuDriver> gpu = open();
  TrustedKernels trusted = TrustedKernels::load(*gpu).value();
  constexpr std::uint64_t kRoom = 1 << 20;
  const DevicePtr from = counting(*gpu, kRoom), to = gpu->allocate(kRoom).value();
  const std::vector<std::byte> expected = contents(*gpu, from, kRoom);
  for (const std::uint64_t bytes : {1, 15, 16, 17, 4095, 999'999}) {
    for (const std::uint64_t offset : {0, 4, 16}) {
      INFO(bytes << " bytes at offset " << offset);
      REQUIRE(trusted.fill_async(to, kRoom, 0xA5A5));
      REQUIRE(trusted.copy_async(to + offset, from + 16, bytes));
      REQUIRE(gpu->synchronize());
      if (offset % 16 == 0) CHECK(trusted.same(to + offset, from + 16, bytes).value());
      const std::vector<std::byte> got = contents(*gpu, to, kRoom);
      CHECK(std::equal(got.begin() + static_cast<std::ptrdiff_t>(offset),
                       got.begin() + static_cast<std::ptrdiff_t>(offset + bytes),
                       expected.begin() + 16));
      CHECK(got[offset + bytes] == std::byte{0xA5});
      CHECK((offset == 0 || got[offset - 1] == std::byte{0xA5}));
    }
  }
  for (const std::uint64_t bytes : {1'001, 1'002}) {
    REQUIRE(trusted.fill_async(to, kRoom, 0));
    REQUIRE(trusted.fill_async(to, bytes, 0x0807));
    REQUIRE(gpu->synchronize());
    const std::vector<std::byte> got = contents(*gpu, to, bytes + 1);
    for (std::uint64_t at = 0; at < bytes; ++at) REQUIRE(got[at] == std::byte(at % 2 ? 8 : 7));
    CHECK(got[bytes] == std::byte{0});
  }
}

TEST_CASE("a trusted kernel that was overwritten lies until refresh() loads its code again") {
  const std::unique_ptr<GpuDriver> gpu = open();
  TrustedKernels trusted = TrustedKernels::load(*gpu).value();
  const DevicePtr a = counting(*gpu, 4096), b = gpu->allocate(4096).value();
  REQUIRE(trusted.fill_async(b, 4096, 0x0101));
  CHECK_FALSE(trusted.same(a, b, 4096).value());
  overwrite(*gpu, kDiffer);
  CHECK(trusted.same(a, b, 4096).value());
  REQUIRE(trusted.refresh());
  CHECK_FALSE(trusted.same(a, b, 4096).value());
}

TEST_CASE("times are in doubt if the kernel that flushes the L2 cache was overwritten") {
  const std::unique_ptr<GpuDriver> gpu = open();
  TrustedKernels trusted = TrustedKernels::load(*gpu).value();
  constexpr std::uint32_t kElements = 2 << 20;  // all three vectors fit into the L2 cache
  const DevicePtr x = counting(*gpu, 4 * kElements), y = counting(*gpu, 4 * kElements);
  const DevicePtr out = gpu->allocate(4 * kElements).value();
  const KernelHandle add = gpu->load(test::assemble(test::kKernels), "vector_add", 0).value();
  LaunchShape shape;
  shape.block[0] = 256;
  shape.grid[0] = kElements / 256;
  const std::array<ParamValue, 4> params{{{x, 8}, {y, 8}, {out, 8}, {kElements, 4}}};
  bool overwrites = false;
  TimedWork work;
  work.prepare = [] { return LaunchStatus(); };
  work.restore = [&] { return trusted.fill_async(out, 4 * kElements, 0xFFFF); };
  work.enqueue = [&] { return gpu->launch_async(add, shape, params); };
  work.scrub = [&] { return trusted.scrub_async(); };
  work.touch = [&] { return trusted.touch_async(); };
  work.read_clock = [&] { return trusted.read_clock_async(); };
  work.clock_mhz = [&] { return trusted.clock_mhz(); };
  work.clear = [&](DevicePtr to, std::uint64_t bytes) { return trusted.fill_async(to, bytes, 0); };
  work.refresh = [&] { return trusted.refresh(); };
  work.operations = 1;
  // A submission would overwrite the code in its own kernel, after every refresh().
  work.sampled = [&](SampleKind, std::int64_t) {
    if (overwrites) overwrite(*gpu, kFill);
    return LaunchStatus();
  };
  const auto block = [&] {
    const LaunchResult<LaunchSamples> samples =
        take_samples(*gpu, TimingRules(), work, system_clock());
    REQUIRE(samples);
    const Timing timing = timing_of(*samples);
    std::printf("cold %.0f ns, fresh %.0f ns, overhead %.0f ns\n", timing.median_ns,
                timing.fresh_ns, timing.overhead_ns);
    return timing;
  };
  CHECK(doubt_about(block(), {}) == TimingDoubt::none);
  overwrites = true;
  CHECK(doubt_about(block(), {}) == TimingDoubt::fresh_above_cold);
  overwrites = false;
  REQUIRE(trusted.refresh());
  CHECK(doubt_about(block(), {}) == TimingDoubt::none);
}
