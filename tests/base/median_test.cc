#include "base/median.h"

#include <random>
#include <vector>

#include "tests/catch.h"

using namespace assay;

TEST_CASE("the ranks are those of the sign test's table") {
  // Each entry has a number of samples n, and the rank of the sample that is the lower end of the
  // median's 95 % interval.
  const std::vector<std::pair<std::size_t, std::size_t>> table = {
      {6, 1},  {8, 1},   {9, 2},   {12, 3},  {15, 4},  {20, 6},
      {25, 8}, {30, 10}, {40, 14}, {50, 18}, {100, 40}};
  for (const auto& [n, rank] : table) {
    INFO(n);
    CHECK(interval_rank(n) == rank);
  }
  // For more than 1000 samples, interval_rank() uses an approximation. The ranks for 1000 and for
  // 1001 samples differ by at most one.
  CHECK(std::abs(static_cast<int>(interval_rank(1000)) - static_cast<int>(interval_rank(1001))) <=
        1);
}

TEST_CASE("few samples give their range") {
  CHECK(median_interval({}).median == 0);
  const std::vector<double> one = {5};
  CHECK(median_interval(one).low == 5);
  CHECK(median_interval(one).high == 5);
  const std::vector<double> five = {5, 1, 4, 2, 3};
  const MedianInterval m = median_interval(five);
  CHECK(m.median == 3);
  CHECK(m.low == 1);
  CHECK(m.high == 5);
}

TEST_CASE("an even number of samples has its median between the middle two") {
  const std::vector<double> samples = {4, 1, 3, 2};
  CHECK(median_interval(samples).median == 2.5);
}

TEST_CASE("the interval is symmetric in rank and its half width is relative to the median") {
  std::vector<double> samples;
  for (int i = 1; i <= 100; ++i) samples.push_back(i);
  const MedianInterval m = median_interval(samples);
  CHECK(m.median == 50.5);
  CHECK(m.low == 40);
  CHECK(m.high == 61);
  CHECK(m.relative_half_width() == Approx(10.5 / 50.5));
}

TEST_CASE("the interval covers the true median about 95 times in 100, for a skewed distribution") {
  std::mt19937 random(99);
  std::exponential_distribution<double> times(1.0);
  const double truth = 0.6931471805599453;
  for (const int n : {12, 37, 200}) {
    int covered = 0;
    const int rounds = 2000;
    for (int round = 0; round < rounds; ++round) {
      std::vector<double> samples;
      for (int i = 0; i < n; ++i) samples.push_back(times(random));
      const MedianInterval m = median_interval(samples);
      if (m.low <= truth && truth <= m.high) ++covered;
    }
    INFO(n);
    CHECK(covered >= rounds * 94 / 100);
    CHECK(covered <= rounds * 99 / 100);
  }
}

TEST_CASE("the interquartile mean ignores outliers and lies between two modes") {
  CHECK(interquartile_mean({}) == 0);
  CHECK(interquartile_mean(std::vector<double>{5}) == 5);
  CHECK(interquartile_mean(std::vector<double>{1, 2, 3, 1'000}) == 2.5);
  CHECK(interquartile_mean(std::vector<double>{-1'000, 1, 2, 3, 4, 5, 6, 9'000}) == 3.5);
  std::vector<double> samples(13, 2'464);
  samples.insert(samples.end(), 12, 2'656);
  const double before = interquartile_mean(samples);
  samples[0] = 2'656;  // one more sample in the upper mode moves the median to that mode
  CHECK(median_interval(samples).median == 2'656);
  CHECK(interquartile_mean(samples) - before < 20);
}
