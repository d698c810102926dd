#include "metrics/estimate.h"

#include <cmath>
#include <vector>

#include "tests/catch.h"

using namespace assay::metrics;

namespace {

std::vector<double> share(int ones, int all) {
  std::vector<double> values(static_cast<std::size_t>(all), 0);
  for (int i = 0; i < ones; ++i) values[static_cast<std::size_t>(i)] = 1;
  return values;
}

}  // namespace

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
  CHECK(all->interval.low == Approx(0.4385).margin(1e-4));  // 3 / (3 + z^2) for 3 successes of 3
  CHECK(all->interval.high == 1);
  CHECK(estimate_share(std::vector<double>{1, 0})->method == IntervalMethod::bootstrap);
}

TEST_CASE("quantiles interpolate between neighbours") {
  const std::vector<double> values = {1, 2, 3, 4};
  CHECK(quantile(values, 0) == 1);
  CHECK(quantile(values, 1) == 4);
  CHECK(quantile(values, 0.5) == Approx(2.5));
  CHECK(quantile(values, 0.25) == Approx(1.75));  // as numpy.percentile([1, 2, 3, 4], 25)
}

TEST_CASE("the same seed gives the same interval, another seed another one") {
  const std::vector<double> values = {0.1, 0.9, 0.4, 0.7, 0.35, 0.2};
  CHECK(bootstrap_mean(values, {.seed = 7}) == bootstrap_mean(values, {.seed = 7}));
  CHECK_FALSE(bootstrap_mean(values, {.seed = 7}) == bootstrap_mean(values, {.seed = 8}));
}

TEST_CASE("the interval of two values is known exactly") {
  // The mean of two draws from {0, 1} is 0 in a quarter of all cases, 1/2 in a half of them, and 1
  // in a quarter. So the 2.5 % and 97.5 % quantiles are 0 and 1.
  CHECK(bootstrap_mean(std::vector<double>{0, 1}, {.seed = 1}) == Interval{0, 1});
}

TEST_CASE("a share's interval is the binomial's") {
  // The mean of 100 draws, each 1 with probability 0.3, has the distribution Binomial(100, 0.3) /
  // 100. The 2.5 % and 97.5 % quantiles of this distribution are 0.21 and 0.39.
  const auto interval = bootstrap_mean(share(30, 100), {.seed = 3});
  REQUIRE(interval);
  CHECK(interval->low == Approx(0.21).margin(0.0101));
  CHECK(interval->high == Approx(0.39).margin(0.0101));
}

TEST_CASE("95 % intervals contain the true share about 95 times in 100") {
  // The test draws 300 suites of 60 operators. Each operator is solved with probability 0.4. The
  // suites and the bootstrap have different random generators.
  std::uint64_t state = 12'345;
  const auto uniform = [&state] {
    state = state * 6'364'136'223'846'793'005ULL + 1'442'695'040'888'963'407ULL;
    return static_cast<double>(state >> 11) / static_cast<double>(1ULL << 53);
  };
  int held = 0;
  for (int suite = 0; suite < 300; ++suite) {
    std::vector<double> values;
    for (int i = 0; i < 60; ++i) values.push_back(uniform() < 0.4 ? 1 : 0);
    const auto interval =
        bootstrap_mean(values, {.seed = static_cast<std::uint64_t>(suite), .resamples = 1'000});
    REQUIRE(interval);
    held += interval->low <= 0.4 && 0.4 <= interval->high ? 1 : 0;
  }
  CHECK(held >= 270);  // 285 = 300 x 0.95 are expected; 270 is four standard deviations less
  CHECK(held <= 300);
}

TEST_CASE("Wilson interval") {
  CHECK(wilson_interval(0, 0) == Interval{0, 1});
  CHECK(wilson_interval(8, 16).low == Approx(0.2800).margin(1e-4));
  CHECK(wilson_interval(8, 16).high == Approx(0.7200).margin(1e-4));
  CHECK(wilson_interval(0, 16).low == Approx(0).margin(1e-12));
  CHECK(wilson_interval(0, 16).high == Approx(0.1936).margin(1e-4));
  CHECK(wilson_interval(7.5, 16).low < wilson_interval(8, 16).low);
}
