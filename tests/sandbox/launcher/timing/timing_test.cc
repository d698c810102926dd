#include "sandbox/launcher/timing/timing.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/launcher/driver/fake_driver.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/timing/scripted_gpu.h"

using namespace assay;
using namespace assay::sandbox;
using namespace assay::sandbox::testing;

TEST_CASE("a sample's steps come in their order, and the stream is unblocked before the wait") {
  ScriptedGpu gpu([] { return 1000.0; });
  const TickingClock clock(1'000'000);
  REQUIRE(take_samples(gpu, {.min_samples = 6, .max_samples = 6, .max_time_ms = 10'000},
                       work_on(gpu), clock));
  const std::string one = "RPFS(<K>)S";
  CHECK(gpu.log.find(one + ";" + one + ";") != std::string::npos);
  CHECK(gpu.log.substr(0, one.size() + 1) == "!" + one);
  CHECK(gpu.flushed == 8u << 20);
  CHECK(gpu.allocated == 0);
}

TEST_CASE("the stream is not blocked for a sequence too long for the driver's queue") {
  ScriptedGpu gpu([] { return 1000.0; });
  const TickingClock clock(1'000'000);
  REQUIRE(take_samples(gpu, {.min_samples = 6, .max_samples = 6, .max_time_ms = 10'000},
                       work_on(gpu, kMaxBlockedOperations + 1), clock));
  CHECK(gpu.log.find('(') == std::string::npos);
}

TEST_CASE(
    "sampling stops at min_samples for steady times, when the interval is narrow for noisy times, "
    "and otherwise at max_samples") {
  const TickingClock clock(10'000);
  const auto count = [&](std::function<double()> times, TimingRules rules) {
    ScriptedGpu gpu(std::move(times));
    const auto samples = take_samples(gpu, rules, work_on(gpu), clock);
    REQUIRE(samples);
    return samples->cold_ns.size();
  };
  const TimingRules rules{.min_samples = 30, .max_samples = 2000, .max_time_ms = 100'000};
  CHECK(count([] { return 5000.0; }, rules) == 30);

  unsigned seed = 1;
  const auto noise = [&seed] { return (seed = seed * 1664525u + 1013904223u) / 4294967296.0; };
  const std::size_t noisy = count([&] { return 5000.0 * (1 + 0.1 * noise()); }, rules);
  CHECK(noisy > 30);
  CHECK(noisy < 2000);
  bool fast = false;
  CHECK(count([&] { return (fast = !fast) ? 1000.0 : 9000.0; }, rules) == 2000);
}

TEST_CASE(
    "sampling stops at the time limit before min_samples, with at least one sample of each kind") {
  ScriptedGpu gpu([] { return 1000.0; });
  const TickingClock clock(200'000'000);
  const auto samples = take_samples(
      gpu, {.min_samples = 30, .max_samples = 2000, .max_time_ms = 100}, work_on(gpu), clock);
  REQUIRE(samples);
  CHECK(samples->cold_ns.size() == 1);
  CHECK(samples->warm_ns.size() == 1);
  CHECK(samples->wall_ns.size() == 1);
}

TEST_CASE(
    "the overhead of the marks is subtracted, and warm and host-clock samples are taken too") {
  std::size_t kernels = 0;
  constexpr double kMarksNs = 1200;
  ScriptedGpu gpu([&] { return kMarksNs + kTouchColdNs * static_cast<double>(kernels); });
  const TickingClock clock(1'000'000);
  TimedWork work = work_on(gpu);
  work.restore = [&] {
    kernels = 0;
    return gpu.note('R');
  };
  work.enqueue = [&] {
    kernels = 3;
    return gpu.note('K');
  };
  work.touch = [&] {
    kernels = 1;
    return gpu.note('n');
  };
  const auto samples = take_samples(
      gpu, {.min_samples = 6, .max_samples = 6, .max_time_ms = 10'000, .side_samples = 2}, work,
      clock);
  REQUIRE(samples);
  CHECK(samples->overhead_ns == Approx(kMarksNs));
  REQUIRE(samples->cold_ns.size() == 6);
  CHECK(samples->cold_ns[0] == Approx(3 * kTouchColdNs));
  // With warm caches, the launcher expects the touch kernel to take kTouchWarmNs. The scripted
  // touch kernel always takes kTouchColdNs. So the launcher subtracts the difference as overhead.
  CHECK(samples->warm_ns == std::vector<double>(2, 2 * kTouchColdNs + kTouchWarmNs));
  CHECK(gpu.log.find("RKRS(<K>)S") != std::string::npos);
  CHECK(samples->wall_ns.size() == 2);
}

TEST_CASE("the overhead of a long run has fewer samples than that of a short run") {
  const auto overhead_samples = [](double run_ns) {
    ScriptedGpu gpu([&] { return run_ns; });
    TimedWork work = work_on(gpu);
    work.touch = [&] { return gpu.note('n'); };
    const TickingClock clock(1'000'000);
    REQUIRE(take_samples(gpu, {.min_samples = 6, .max_samples = 6, .max_time_ms = 10'000}, work,
                         clock));
    return std::count(gpu.log.begin(), gpu.log.end(), 'n');
  };
  CHECK(overhead_samples(39'000) == 25 + 9);  // with cold caches, and with warm ones
  CHECK(overhead_samples(41'000) == 9 + 9);
}

TEST_CASE("a long run is discarded once before the samples, a short one three times") {
  const auto discarded = [](double run_ns) {
    ScriptedGpu gpu([&] { return run_ns; });
    TimedWork work = work_on(gpu);
    work.sampled = [&, seen = false](SampleKind, std::int64_t, bool) mutable {
      if (!std::exchange(seen, true)) (void)gpu.note('1');
      return LaunchResult<bool>(false);
    };
    const TickingClock clock(1'000'000);
    REQUIRE(
        take_samples(gpu, {.min_samples = 6, .max_time_ms = 10'000, .warm_up_ms = 0}, work, clock));
    return std::count(gpu.log.begin(), gpu.log.begin() + gpu.log.find('1'), 'K') - 1;
  };
  CHECK(discarded(990'000) == 3);
  CHECK(discarded(1'000'000) == 1);
}

TEST_CASE(
    "samples at a low clock are discarded and counted, and on-chip memory is scrubbed before each "
    "sample") {
  ScriptedGpu gpu([] { return 1000.0; });
  const TickingClock clock(1'000'000);
  TimedWork work = work_on(gpu);
  std::size_t readings = 0;
  work.scrub = [&] { return gpu.note('X'); };
  work.read_clock = [&] { return gpu.note('C'); };
  work.clock_mhz = [&]() -> LaunchResult<double> { return ++readings % 10 == 0 ? 900.0 : 1980.0; };
  const auto samples = take_samples(
      gpu, {.min_samples = 40, .max_samples = 40, .max_time_ms = 100'000}, work, clock);
  REQUIRE(samples);
  CHECK(samples->discarded == 4);
  CHECK(samples->cold_ns.size() == 36);
  CHECK(samples->clock_mhz == Approx(1980));
  CHECK(gpu.log.find("RXPFS(<K>)CS") != std::string::npos);
}

TEST_CASE(
    "new inputs are staged before the warm-up, which runs on the old inputs, and swapped in right "
    "before the first sample") {
  double ns = 0;
  ScriptedGpu gpu([&] { return ns += 1000; });
  const TickingClock clock(100'000);
  TimedWork work = work_on(gpu);
  bool unseen = true;
  work.stage_next_inputs = [&] { return gpu.note('N'); };
  work.swap_inputs = [&]() -> LaunchResult<bool> {
    static_cast<void>(gpu.note('T'));
    return unseen;
  };
  const TimingRules rules{
      .min_samples = 6, .max_samples = 6, .max_time_ms = 10'000, .warm_up_ms = 2};
  const auto samples = take_samples(gpu, rules, work, clock);
  REQUIRE(samples);
  const std::string one = "RPFS(<K>)S";
  CHECK(gpu.log.substr(0, one.size() + 2) == "!N" + one);
  CHECK(gpu.log.find(one + "T" + one + ";") != std::string::npos);
  CHECK(std::count(gpu.log.begin(), gpu.log.end(), 'N') == 1);
  CHECK(std::count(gpu.log.begin(), gpu.log.end(), 'T') == 1);
  REQUIRE(samples->first_run_ns);
  CHECK(*samples->first_run_ns == samples->cold_ns[0]);

  unseen = false;
  CHECK_FALSE(take_samples(gpu, rules, work, clock)->first_run_ns);
  work.stage_next_inputs = nullptr;
  gpu.log.clear();
  CHECK_FALSE(take_samples(gpu, rules, work, clock)->first_run_ns);
  CHECK(gpu.log.find('T') == std::string::npos);
}

TEST_CASE("the interval that ends a series counts no sample at a low clock") {
  // Two of five samples are taken at a low clock, and take 100 us each. The other samples take 95
  // or 105 us. The interval of all samples would be narrow, because two of five samples are equal.
  // The interval without the samples at a low clock is wide.
  std::size_t run = 0;
  const auto at_low_clock = [&] { return run % 5 < 2; };
  ScriptedGpu gpu([&] { return at_low_clock() ? 100'000.0 : run % 2 == 0 ? 95'000.0 : 105'000.0; });
  const TickingClock clock(1'000);
  TimedWork work = work_on(gpu);
  work.read_clock = [] { return LaunchStatus(); };
  work.clock_mhz = [&]() -> LaunchResult<double> {
    const double mhz = at_low_clock() ? 900.0 : 1980.0;
    ++run;
    return mhz;
  };
  constexpr std::int64_t kMost = 400;
  const auto samples = take_samples(gpu,
                                    {.min_samples = 40,
                                     .max_samples = kMost,
                                     .max_time_ms = 100'000,
                                     .relative_half_width = 0.005},
                                    work, clock);
  REQUIRE(samples);
  CHECK(samples->discarded + static_cast<std::int64_t>(samples->cold_ns.size()) == kMost);
  CHECK(samples->discarded == kMost * 2 / 5);
}

TEST_CASE(
    "a first run at a low clock is not reported, and a failure to stage or swap inputs ends the "
    "series") {
  ScriptedGpu gpu([] { return 1000.0; });
  const TickingClock clock(1'000'000);
  TimedWork work = work_on(gpu);
  bool low = false;
  work.stage_next_inputs = [] { return LaunchStatus(); };
  work.swap_inputs = [&]() -> LaunchResult<bool> { return low = true; };
  work.read_clock = [] { return LaunchStatus(); };
  work.clock_mhz = [&]() -> LaunchResult<double> {
    return std::exchange(low, false) ? 900.0 : 1980.0;
  };
  const auto samples = take_samples(
      gpu, {.min_samples = 40, .max_samples = 40, .max_time_ms = 100'000}, work, clock);
  REQUIRE(samples);
  CHECK(samples->discarded == 1);
  CHECK_FALSE(samples->first_run_ns);

  work.swap_inputs = []() -> LaunchResult<bool> {
    return launch_fail(LaunchErrorKind::internal_error, "no inputs");
  };
  CHECK(take_samples(gpu, {}, work, clock).error().message == "no inputs");
  work.stage_next_inputs = [] {
    return LaunchStatus(launch_fail(LaunchErrorKind::internal_error, "no new inputs"));
  };
  CHECK(take_samples(gpu, {}, work, clock).error().message == "no new inputs");
}

TEST_CASE("a failing launch unblocks the stream and ends the series") {
  ScriptedGpu gpu([] { return 1000.0; });
  const TickingClock clock(1'000'000);
  TimedWork work = work_on(gpu);
  work.enqueue = [] { return LaunchStatus(launch_fail(LaunchErrorKind::launch_failure, "no")); };
  const auto samples = take_samples(gpu, {}, work, clock);
  REQUIRE_FALSE(samples);
  CHECK(samples.error().kind == LaunchErrorKind::launch_failure);
  CHECK_FALSE(gpu.blocked);
  CHECK(gpu.allocated == 0);
}

namespace {

/// What take_samples() has told about its samples: for each kind, the index of each sample, and the
/// indexes of those that were said to be the last one.
struct Told {
  std::vector<std::int64_t> cold, fresh, last_cold, last_fresh;
};

Told told_about(TimingRules rules, std::int64_t tick_ns, double noise_ns) {
  double ns = 1'000'000;
  ScriptedGpu gpu([&] { return ns += noise_ns *= -1; });  // alternates between two times
  const TickingClock clock(tick_ns);
  TimedWork work = work_on(gpu);
  work.refresh = [&] { return gpu.note('L'); };
  Told told;
  work.sampled = [&](SampleKind kind, std::int64_t index, bool is_last) {
    const bool is_fresh = kind == SampleKind::fresh;
    (is_fresh ? told.fresh : told.cold).push_back(index);
    if (is_last) (is_fresh ? told.last_fresh : told.last_cold).push_back(index);
    return LaunchResult<bool>(false);
  };
  REQUIRE(take_samples(gpu, rules, work, clock));
  return told;
}

void check_told(const Told& told) {
  REQUIRE_FALSE(told.cold.empty());
  REQUIRE_FALSE(told.fresh.empty());
  CHECK(told.last_cold == std::vector<std::int64_t>{told.cold.back()});
  CHECK(told.last_fresh == std::vector<std::int64_t>{told.fresh.back()});
}

}  // namespace

TEST_CASE("exactly the last sample of each kind is said to be the last one") {
  SECTION("at the greatest number of samples") {
    const Told told =
        told_about({.min_samples = 6, .max_samples = 20, .max_time_ms = 10'000, .fresh_samples = 3},
                   1'000, 100'000);
    check_told(told);
    CHECK(told.cold.size() == 20);
    CHECK(told.fresh.size() == 3);
  }
  SECTION("when the median is known") {
    const Told told = told_about(
        {.min_samples = 6, .max_samples = 20, .max_time_ms = 10'000, .fresh_samples = 3}, 1'000, 0);
    check_told(told);
    CHECK(told.cold.size() == 6);
  }
  SECTION("at the time limit") {
    const Told told =
        told_about({.min_samples = 60, .max_samples = 200, .max_time_ms = 20, .fresh_samples = 3},
                   500'000, 100'000);
    check_told(told);
    CHECK(told.cold.size() < 60);
    CHECK(told.fresh.size() == 1);
  }
}

TEST_CASE("a run after a pause is discarded, with its clock") {
  ScriptedGpu gpu([] { return 10'000.0; });
  const TickingClock clock(1'000);
  TimedWork work = work_on(gpu);
  double next_mhz = 1'000;
  work.read_clock = [&] { return gpu.note('C'); };
  work.clock_mhz = [&]() -> LaunchResult<double> { return std::exchange(next_mhz, 1'000); };
  work.sampled = [&](SampleKind, std::int64_t index, bool) {
    (void)gpu.note('|');
    if (index == 2) next_mhz = 500;  // the clock of the run that follows
    return LaunchResult<bool>(index == 2);
  };
  const auto samples = take_samples(
      gpu, {.min_samples = 6, .max_samples = 6, .max_time_ms = 10'000, .side_samples = 0}, work,
      clock);
  REQUIRE(samples);
  CHECK(samples->cold_ns.size() == 6);
  CHECK(samples->discarded == 0);
  CHECK(samples->clock_mhz == 1'000);
  const std::string from = gpu.log.substr(gpu.log.find('|'));
  // Six samples, and one run that is none, before the side samples.
  CHECK(std::count(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(from.rfind('|')),
                   'C') == 6);
}
