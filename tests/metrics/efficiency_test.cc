#include "metrics/efficiency.h"

#include "tests/catch.h"

using namespace assay::metrics;

TEST_CASE("GPU efficiency is the better of both resources") {
  const Peaks peaks = {4.0e12, 60e12};
  CHECK(*gpu_efficiency({4.0e8, 6.0e8}, peaks, 200'000) ==
        Approx(0.5));  // 2e12 of 4e12 bytes/s; 3e12 of 60e12 flop/s
  CHECK(*gpu_efficiency({4.0e6, 6.0e9}, peaks, 200'000) ==
        Approx(0.5));  // 2e10 of 4e12 bytes/s; 3e13 of 60e12 flop/s
  CHECK_FALSE(gpu_efficiency({1, 1}, peaks, 0));
  CHECK_FALSE(gpu_efficiency({1, 1}, {0, 1}, 1));
}

TEST_CASE("floor over latency says the same") {
  const Work work = {4.0e8, 6.0e8};
  const Peaks peaks = {4.0e12, 60e12};
  const double floor_ns = 1e9 * 4.0e8 / 4.0e12;  // memory is the slower of both
  CHECK(*efficiency_of_floor(floor_ns, 200'000) == Approx(*gpu_efficiency(work, peaks, 200'000)));
  CHECK_FALSE(efficiency_of_floor(1, 0));
}
