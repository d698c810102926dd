#include "sandbox/timing/statistics.h"

#include "tests/catch.h"

using namespace assay::sandbox;

namespace {

Timing block(double wall_ns, double clock_mhz = 1'980) {
  Timing timing;
  timing.samples_ns = {35'100, 35'136, 35'200};
  timing.wall_ns = wall_ns;
  timing.clock_mhz = clock_mhz;
  return timing;
}

}  // namespace

TEST_CASE("the times of a launch are the medians of its samples") {
  LaunchSamples samples{.cold_ns = {30, 10, 20},
                        .warm_ns = {3, 1, 2},
                        .wall_ns = {50, 40},
                        .overhead_ns = 4,
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
  CHECK(timing.clock_mhz == 1'980);
  CHECK(timing.discarded == 2);
  CHECK(timing.first_run_ns == 0);  // not measured
  samples.first_run_ns = 30;
  CHECK(timing_of(samples).first_run_ns == 30);
}

TEST_CASE("the host's clock may show more than the device's clock, or up to a tenth less") {
  CHECK(clocks_agree(block(44'000)));
  CHECK(clocks_agree(block(32'000)));
  CHECK_FALSE(clocks_agree(block(31'000)));
  CHECK_FALSE(
      clocks_agree(block(22'705)));  // measured while other processes computed on the same GPU
}

TEST_CASE("clocks agree when the host's time is missing or the device is simulated") {
  CHECK(clocks_agree(block(0)));
  CHECK(clocks_agree(block(22'705, 0)));
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
}

TEST_CASE("slow first runs are measured again until they are not slow or there are enough blocks") {
  Timing timing;
  timing.median_ns = 30'000;
  int blocks = 0;
  const auto confirm = [&](double first_run_ns, int fast_after) {
    timing.first_run_ns = first_run_ns;
    blocks = 0;
    return confirm_first_runs([&] { return timing; },
                              [&] {
                                if (++blocks == fast_after) timing.first_run_ns = 30'000;
                                return true;
                              });
  };
  CHECK(confirm(30'000, 0));
  CHECK(blocks == 0);
  CHECK(confirm(60'000, 3));
  CHECK(blocks == 3);
  CHECK(confirm(60'000, 0));
  CHECK(blocks == kConfirmingBlocks);
  CHECK(first_runs_are_slow(timing));
  CHECK_FALSE(confirm_first_runs([&] { return timing; }, [] { return false; }));
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
  kernels[1].name = "copy";        // a kernel may have this name
  kernels[2].name = "assay_copy";  // a kernel of the launcher
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
  kernels[1].symbol = "copy";  // data movement of torch keeps its name
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
