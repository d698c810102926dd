// Tests when the launcher loads its own kernels again while it takes samples.
#include <algorithm>
#include <string>

#include "sandbox/launcher/timing/timing.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/timing/scripted_gpu.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

TEST_CASE(
    "the launcher's kernels are loaded again before the overhead and before each fresh sample") {
  double ns = 1000;
  ScriptedGpu gpu([&] { return ns; });
  const TickingClock clock(1'000'000);
  TimedWork work = work_on(gpu);
  work.scrub = [&] { return gpu.note('X'); };
  work.touch = [&] { return gpu.note('n'); };
  work.clear = [&](DevicePtr, std::uint64_t bytes) {
    gpu.flushed = bytes;
    return gpu.note('Z');
  };
  work.refresh = [&] {
    ns = 3000;
    return gpu.note('L');
  };
  work.enqueue = [&] { return gpu.note('K'); };
  const TimingRules rules{
      .min_samples = 6, .max_samples = 6, .max_time_ms = 10'000, .fresh_samples = 2};
  const auto samples = take_samples(gpu, rules, work, clock);
  REQUIRE(samples);
  CHECK(samples->cold_ns.size() == 6);
  CHECK(samples->fresh_ns.size() == 2);
  CHECK(std::count(gpu.log.begin(), gpu.log.end(), 'L') == 3);
  CHECK(gpu.log.find("SLZS(<n>)S") != std::string::npos);
  const std::string one = "SLRXPZS(<K>)S:";
  CHECK(gpu.log.find(one + one) != std::string::npos);
  CHECK(gpu.log.find('F') == std::string::npos);  // the driver does not flush
  CHECK(gpu.flushed == 8u << 20);

  work.refresh = nullptr;
  CHECK(take_samples(gpu, rules, work, clock)->fresh_ns.empty());
}

TEST_CASE("if all samples are fresh, the launcher loads its kernels again before each of them") {
  ScriptedGpu gpu([] { return 1000.0; });
  const TickingClock clock(1'000'000);
  TimedWork work = work_on(gpu);
  work.refresh = [&] { return gpu.note('L'); };
  const TimingRules rules{.min_samples = 6,
                          .max_samples = 6,
                          .max_time_ms = 10'000,
                          .warm_up_ms = 0,
                          .side_samples = 1,
                          .fresh_samples = 2,
                          .all_fresh = true};
  REQUIRE(take_samples(gpu, rules, work, clock));
  // Before the overhead, before 6 + 2 samples, and before the sample by the host's clock.
  CHECK(std::count(gpu.log.begin(), gpu.log.end(), 'L') == 10);
}

TEST_CASE(
    "between the launcher's last loading of its kernels and the first run, nothing else runs") {
  ScriptedGpu gpu([] { return 1000.0; });
  const TickingClock clock(1'000'000);
  TimedWork work = work_on(gpu);
  work.clear = [&](DevicePtr, std::uint64_t) { return gpu.note('Z'); };
  work.refresh = [&] { return gpu.note('L'); };
  work.stage_next_inputs = [&] { return gpu.note('T'); };
  work.swap_inputs = [&]() -> LaunchResult<bool> {
    (void)gpu.note('W');
    return true;
  };
  const TimingRules rules{
      .min_samples = 6, .max_samples = 6, .max_time_ms = 10'000, .fresh_samples = 2};
  REQUIRE(take_samples(gpu, rules, work, clock));
  // The warm-up, in which the submission runs (K) and may change the launcher's kernels, comes
  // before. The swap unmasks the new inputs.
  CHECK(gpu.log.find("SLWRPZS(<K>)S;") != std::string::npos);
}
