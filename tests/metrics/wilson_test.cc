#include "metrics/wilson.h"

#include "tests/catch.h"

using namespace assay::metrics;

TEST_CASE("Wilson interval") {
  CHECK(wilson_interval(0, 0) == Interval{0, 1});
  CHECK(wilson_interval(8, 16).low == Approx(0.2800).margin(1e-4));
  CHECK(wilson_interval(8, 16).high == Approx(0.7200).margin(1e-4));
  CHECK(wilson_interval(0, 16).low == Approx(0).margin(1e-12));
  CHECK(wilson_interval(0, 16).high == Approx(0.1936).margin(1e-4));
  CHECK(wilson_interval(7.5, 16).low < wilson_interval(8, 16).low);
}
