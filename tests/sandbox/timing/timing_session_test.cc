#include "sandbox/timing/timing_session.h"

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

TEST_CASE("the host's clock may show more than the device's, and a tenth less") {
  CHECK(clocks_agree(block(44'000)));
  CHECK(clocks_agree(block(32'000)));
  CHECK_FALSE(clocks_agree(block(31'000)));
  CHECK_FALSE(clocks_agree(block(22'705)));  // seen where other processes computed on the same GPU
}

TEST_CASE("without a time of the host, or with made-up ones, there is nothing to disagree") {
  CHECK(clocks_agree(block(0)));
  CHECK(clocks_agree(block(22'705, 0)));
}

TEST_CASE("a median is known well enough to one percent, or to half a tick of the timer") {
  CHECK(known_well_enough({100'000, 99'200, 100'800}));
  CHECK_FALSE(known_well_enough({100'000, 98'800, 101'200}));
  CHECK(known_well_enough({1'016, 1'000, 1'032}));
  CHECK_FALSE(known_well_enough({1'016, 984, 1'048}));
}

TEST_CASE("first runs that are slow beside the others tell of answers that were kept") {
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
  CHECK_FALSE(slow(2'250, 2'000));  // of so little time the clock's own noise is a part
  CHECK_FALSE(slow(0, 30'000));     // not known
}

TEST_CASE(
    "slow first runs are looked at again, until they are not slow or there were enough blocks") {
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
