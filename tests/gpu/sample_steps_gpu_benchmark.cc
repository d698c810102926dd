// Prints what the steps of one timed sample cost by the host's clock. A sample of a kernel that
// takes 5 us takes 0.3 to 0.5 ms (docs/measurements/server.md, "What a grade costs"), so most of a
// grade's time is in these steps. The test is hidden: only its tag runs it.
//
//   build/release/bin/test_launcher_gpu "[sample-steps]"
//
// Each step ends with a wait for the GPU, so `wait` is a part of all other rows.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/median.h"
#include "sandbox/launcher/memory/trusted_kernels.h"
#include "sandbox/launcher/timing/timing.h"
#include "tests/catch.h"
#include "tests/gpu/gpu_launcher.h"

using namespace assay;
using namespace assay::sandbox;

TEST_CASE("the steps of a sample", "[.][sample-steps]") {
  constexpr std::uint64_t kBytes = 16 << 20;  // of an input, and of an output
  constexpr int kRuns = 50, kWarmUp = 5;
  const std::unique_ptr<GpuDriver> gpu = test::open_gpu_driver();
  TrustedKernels trusted = TrustedKernels::load(*gpu).value();
  const DevicePtr kept = gpu->allocate(kBytes).value(), input = gpu->allocate(kBytes).value();
  const DevicePtr output = gpu->allocate(kBytes).value();
  const std::uint64_t flushed = 2 * static_cast<std::uint64_t>(gpu->facts().l2_bytes);
  const DevicePtr l2 = gpu->allocate(flushed).value();
  const auto step = [&](const char* name, const std::function<LaunchStatus()>& queue) {
    std::vector<double> samples;
    for (int i = -kWarmUp; i < kRuns; ++i) {
      const std::int64_t begin_ns = system_clock().monotonic_ns();
      REQUIRE(queue());
      REQUIRE(gpu->synchronize());
      if (i >= 0)
        samples.push_back(static_cast<double>(system_clock().monotonic_ns() - begin_ns) / 1e3);
    }
    const MedianInterval us = median_interval(samples);
    std::printf("%-40s %8.1f us (%.1f to %.1f)\n", name, us.median, us.low, us.high);
  };
  step("wait", [] { return LaunchStatus(); });
  step("restore an input of 16 MiB", [&] { return trusted.copy_async(input, kept, kBytes); });
  step("poison 16 MiB", [&] { return trusted.fill_async(output, kBytes, 0xA5A5); });
  step("scrub shared memory and registers", [&] { return trusted.scrub_async(); });
  step("reset persisting lines of the L2", [&] { return gpu->reset_persisting_l2(); });
  step("flush the L2", [&] { return trusted.fill_async(l2, flushed, 0); });
  step("a kernel between marks, stream blocked",
       [&] { return queue_timed(*gpu, 1, [&] { return trusted.touch_async(); }); });
  step("read the clock", [&]() -> LaunchStatus {
    if (LaunchStatus s = trusted.read_clock_async(); !s) return s;
    const LaunchResult<double> mhz = trusted.clock_mhz();
    return mhz ? LaunchStatus() : tl::unexpected(mhz.error());
  });
  step("load all kernels again", [&] { return trusted.refresh(); });
  step("load the kernels of memory again", [&] { return trusted.refresh_those_of_memory(); });
  for (const DevicePtr memory : {kept, input, output, l2}) gpu->free(memory);
}
