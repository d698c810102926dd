#include "sandbox/timing/statistics.h"

#include "tests/catch.h"

using namespace assay::sandbox;

namespace {

/// Returns the times of a block for a kernel that takes about 35 microseconds.
Timing block() {
  Timing timing;
  timing.samples_ns = {35'100, 35'136, 35'200};
  timing.warm_ns = 33'000;
  timing.wall_ns = 44'000;
  timing.fresh_ns = 35'500;
  timing.overhead_ns = 4'044;
  timing.clock_mhz = 1'980;
  return timing;
}

/// Changes one field of block(). Returns the reason to doubt the changed times.
TimingDoubt after(double Timing::*field, double value, const BlockFacts& facts = {}) {
  Timing timing = block();
  timing.*field = value;
  CHECK_FALSE(describe(doubt_about(timing, facts), timing).empty());
  return doubt_about(timing, facts);
}

}  // namespace

TEST_CASE("the times of a launch are the medians of its samples") {
  LaunchSamples samples{.cold_ns = {30, 10, 20},
                        .warm_ns = {3, 1, 2},
                        .wall_ns = {50, 40},
                        .overhead_ns = 4,
                        .fresh_ns = {22, 21, 29},
                        .clock_mhz = 1'980,
                        .discarded = 2};
  const Timing timing = timing_of(samples);
  CHECK(timing.samples_ns == samples.cold_ns);
  CHECK(timing.median_ns == 20);
  CHECK(timing.low_ns == 10);
  CHECK(timing.high_ns == 30);
  CHECK(timing.warm_ns == 2);
  CHECK(timing.wall_ns == 45);
  CHECK(timing.overhead_ns == 4);
  CHECK(timing.fresh_ns == 22);
  CHECK(timing.clock_mhz == 1'980);
  CHECK(timing.discarded == 2);
  CHECK(timing.first_run_ns == 0);  // not measured
  samples.first_run_ns = 30;
  CHECK(timing_of(samples).first_run_ns == 30);
}

TEST_CASE("the host's time may be a little below the device's time, and not far above it") {
  CHECK(doubt_about(block(), {}) == TimingDoubt::none);
  CHECK(after(&Timing::wall_ns, 32'000) == TimingDoubt::none);
  CHECK(after(&Timing::wall_ns, 31'000) == TimingDoubt::host_below_device);
  // This time was measured while other processes computed on the same GPU.
  CHECK(after(&Timing::wall_ns, 22'705) == TimingDoubt::host_below_device);
  CHECK(after(&Timing::wall_ns, 105'000) == TimingDoubt::none);
  CHECK(after(&Timing::wall_ns, 110'000) == TimingDoubt::host_above_device);
  CHECK(after(&Timing::wall_ns, 110'000, {.launches = 20}) == TimingDoubt::none);
}

TEST_CASE("warm runs must not take longer than cold runs, nor the timer's marks too long") {
  CHECK(after(&Timing::warm_ns, 48'000) == TimingDoubt::none);
  CHECK(after(&Timing::warm_ns, 50'000) == TimingDoubt::warm_above_cold);
  CHECK(after(&Timing::overhead_ns, 6'100) == TimingDoubt::slow_marks);
}

TEST_CASE("fresh samples must not take longer than cold samples") {
  CHECK(after(&Timing::fresh_ns, 36'000) == TimingDoubt::none);
  CHECK(after(&Timing::fresh_ns, 38'500) == TimingDoubt::fresh_above_cold);
  CHECK(after(&Timing::fresh_ns, 45'000, {.launches = 20}) == TimingDoubt::none);
  CHECK(after(&Timing::fresh_ns, 30'000) == TimingDoubt::none);
}

TEST_CASE("a series has fresh samples only if they take longer in a second block too") {
  CHECK_FALSE(wants_fresh_samples_only(TimingDoubt::fresh_above_cold, 0));
  CHECK(wants_fresh_samples_only(TimingDoubt::fresh_above_cold, 1));
  CHECK_FALSE(wants_fresh_samples_only(TimingDoubt::none, 1));
  CHECK_FALSE(wants_fresh_samples_only(TimingDoubt::host_above_device, 3));
}

TEST_CASE("a time or a clock that was not measured is a doubt, unless the device is simulated") {
  for (double Timing::*const field :
       {&Timing::wall_ns, &Timing::warm_ns, &Timing::fresh_ns, &Timing::clock_mhz}) {
    CHECK(after(field, 0) == TimingDoubt::no_clock);
    CHECK(after(field, 0, {.simulated = true}) == TimingDoubt::none);
  }
}

TEST_CASE("a clock above the device's highest clock is a doubt") {
  CHECK(after(&Timing::clock_mhz, 1'996, {.peak_mhz = 1'980}) == TimingDoubt::none);
  // This clock was measured while the first run on new inputs kept the GPU busy for 40 ms.
  CHECK(after(&Timing::clock_mhz, 2'084, {.peak_mhz = 1'980}) == TimingDoubt::impossible_clock);
  CHECK(after(&Timing::clock_mhz, 2'084) == TimingDoubt::none);  // unknown peak
}

TEST_CASE("an oracle's block is throttled if its clock is clearly below that of another block") {
  CHECK_FALSE(is_throttled(block(), 1'980));
  CHECK_FALSE(is_throttled(block(), 2'040));
  CHECK(is_throttled(block(), 2'050));
  CHECK_FALSE(is_throttled(block(), 0));  // unknown
  Timing unknown = block();
  unknown.clock_mhz = 0;
  CHECK_FALSE(is_throttled(unknown, 1'980));
}

TEST_CASE("first runs are lacking if there were new inputs and fewer than three are known") {
  Samples samples;
  samples.add(block(), {});
  CHECK_FALSE(samples.lacks_first_runs());  // the inputs were not replaced
  Timing known = block();
  known.first_run_ns = 35'500;
  samples.add(known, {}, true);
  CHECK(samples.lacks_first_runs());
  samples.add(block(), {}, true);  // new inputs, but a low clock
  samples.add(known, {}, true);
  CHECK(samples.lacks_first_runs());
  samples.add(known, {}, true);
  CHECK_FALSE(samples.lacks_first_runs());
  CHECK(samples.timing().first_run_ns == 35'500);
}

TEST_CASE("a median is known well enough to one percent, or to half a tick of the timer") {
  CHECK(known_well_enough({100'000, 99'200, 100'800}));
  CHECK_FALSE(known_well_enough({100'000, 98'800, 101'200}));
  CHECK(known_well_enough({1'016, 1'000, 1'032}));
  CHECK_FALSE(known_well_enough({1'016, 984, 1'048}));
}

TEST_CASE("first runs are slow if they take longer than later runs by more than noise") {
  const auto slow = [](double first_run_ns, double median_ns) {
    Timing timing;
    timing.first_run_ns = first_run_ns;
    timing.median_ns = median_ns;
    return first_runs_are_slow(timing);
  };
  CHECK(slow(60'000, 30'000));
  CHECK(slow(33'100, 30'000));
  CHECK_FALSE(slow(32'900, 30'000));
  CHECK_FALSE(slow(25'000, 30'000));
  CHECK(slow(2'400, 2'000));
  CHECK_FALSE(slow(2'250, 2'000));  // within the noise of the clock
  CHECK_FALSE(slow(0, 30'000));     // unknown

  // A first run comes right after the launcher's kernels were loaded again, like a fresh sample.
  const auto slower_than_fresh = [](double first_run_ns, double fresh_ns) {
    Timing timing;
    timing.first_run_ns = first_run_ns;
    timing.median_ns = 3'000;
    timing.fresh_ns = fresh_ns;
    return first_runs_are_slow(timing);
  };
  CHECK_FALSE(slower_than_fresh(3'700, 3'600));
  CHECK(slower_than_fresh(3'700, 3'000));
  CHECK(slower_than_fresh(4'000, 3'600));
}

TEST_CASE("slow first runs are measured again until they are not slow or there are enough blocks") {
  bool slow = false;
  int blocks = 0;
  const auto confirm = [&](bool slow_at_first, int fast_after) {
    slow = slow_at_first;
    blocks = 0;
    return confirm_first_runs([&] { return slow; },
                              [&] {
                                if (++blocks == fast_after) slow = false;
                                return true;
                              });
  };
  CHECK(confirm(false, 0));
  CHECK(blocks == 0);
  CHECK(confirm(true, 3));
  CHECK(blocks == 3);
  CHECK(confirm(true, 0));
  CHECK(blocks == kConfirmingBlocks);
  CHECK(slow);
  CHECK_FALSE(confirm_first_runs([&] { return slow; }, [] { return false; }));
}

TEST_CASE("the submission's kernels have a share of the whole timeline, and so has each kernel") {
  const std::vector<OperationTime> timeline = {{"fill", false, 1'000},
                                               {"row_sum", true, 5'000},
                                               {"assay_copy", false, 2'000},
                                               {"row_sum", true, 1'000},
                                               {"copy", true, 1'000}};
  CHECK(*own_share(timeline) == Approx(0.7));
  std::vector<KernelReport> kernels(3);
  kernels[0].name = "row_sum";
  kernels[1].name = "copy";        // a submission's kernel may have this name
  kernels[2].name = "assay_copy";  // a kernel of Assay's recorder
  add_time_shares(kernels, timeline);
  CHECK(kernels[0].gpu_time_share == Approx(0.6));
  CHECK(kernels[1].gpu_time_share == Approx(0.1));
  CHECK(kernels[2].gpu_time_share == 0);
}

TEST_CASE("a kernel of C++ has the name in its source") {
  std::vector<OperationTime> timeline = {{"_Z3addIfEvPKT_", true, 1'000}, {"copy", false, 1'000}};
  std::vector<KernelReport> kernels(2);
  kernels[0].name = "add<float>";
  kernels[0].symbol = "_Z3addIfEvPKT_";
  kernels[1].name = "mine";
  kernels[1].symbol = "copy";  // torch's data movement keeps its name
  use_reported_names(timeline, kernels);
  CHECK(timeline[0].name == "add<float>");
  CHECK(timeline[1].name == "copy");
  add_time_shares(kernels, timeline);
  CHECK(kernels[0].gpu_time_share == Approx(0.5));
}

TEST_CASE("without a timeline there are no shares") {
  CHECK_FALSE(own_share({}));
  std::vector<KernelReport> kernels(1);
  add_time_shares(kernels, {});
  CHECK(kernels[0].gpu_time_share == 0);
}

TEST_CASE("the time of PyTorch eager is a median of samples, without the overhead of the marks") {
  const Timing eager = eager_timing({30, 10, 20});
  CHECK(eager.median_ns == 20);
  CHECK(eager.samples_ns == std::vector<double>{30, 10, 20});
  CHECK(eager.clock_mhz == 0);
  const Timing shorter = without_overhead(eager, 15);
  CHECK(shorter.median_ns == 5);
  CHECK(shorter.samples_ns == std::vector<double>{15, 0, 5});  // no time is negative
  CHECK(shorter.overhead_ns == 15);
}

TEST_CASE("a series lacks so many samples as its interval is too wide for") {
  // Four times as many samples make an interval half as wide.
  CHECK(samples_needed({.median = 10'000, .low = 9'800, .high = 10'200}, 24) == 96);
  CHECK(samples_needed({.median = 10'000, .low = 9'900, .high = 10'100}, 24) == 24);
  CHECK(samples_needed({.median = 10'000, .low = 10'000, .high = 10'000}, 24) == 0);
  CHECK(samples_needed({.median = 100, .low = 66, .high = 134}, 10) == 40);  // by the timer's ticks
  Samples samples;
  CHECK(samples.missing() == 0);
  Timing noisy;
  for (int i = 0; i < 24; ++i) noisy.samples_ns.push_back(10'000 + 100 * (i % 12));
  samples.add(noisy, {});
  const assay::MedianInterval interval = assay::median_interval(noisy.samples_ns);
  CHECK(samples.missing() == samples_needed(interval, 24) - 24);
  CHECK(samples.missing() > 24);
}

TEST_CASE("two blocks of the same work agree if their medians are close") {
  CHECK(blocks_agree({100, 101, 99}, {104, 103, 105}));
  CHECK(blocks_agree({104, 103, 105}, {100, 101, 99}));
  CHECK_FALSE(blocks_agree({100, 101, 99}, {106, 107, 108}));
  CHECK_FALSE(blocks_agree({}, {100}));
  CHECK_FALSE(blocks_agree({0}, {0}));
}
