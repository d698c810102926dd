#include "metrics/estimate.h"

#include <vector>

#include "tests/catch.h"

using namespace assay::metrics;

TEST_CASE("an estimate: value, count, interval") {
  CHECK_FALSE(estimate(std::vector<double>{}));
  const auto four = estimate(std::vector<double>{1, 1, 1, 0});
  REQUIRE(four);
  CHECK(four->value == 0.75);
  CHECK(four->count == 4);
  CHECK(four->method == IntervalMethod::bootstrap);
  CHECK(four->interval.low < 0.75);
  CHECK(four->interval.high == 1);
}

TEST_CASE("equal values and single operators claim no certainty") {
  CHECK(estimate(std::vector<double>{0.5})->method == IntervalMethod::none);
  CHECK(estimate(std::vector<double>{2, 2, 2})->method == IntervalMethod::none);
  const auto all = estimate_share(std::vector<double>{1, 1, 1});
  REQUIRE(all);
  CHECK(all->method == IntervalMethod::wilson);
  CHECK(all->interval.low == Approx(0.4385).margin(1e-4));  // 3 of 3: 3 / (3 + z^2)
  CHECK(all->interval.high == 1);
  CHECK(estimate_share(std::vector<double>{1, 0})->method == IntervalMethod::bootstrap);
}
