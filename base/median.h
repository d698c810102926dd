// Computes the median of timing samples with its 95 % confidence interval, and the interquartile
// mean. The interval uses order statistics, because they assume no distribution and kernel times
// are skewed. Pure functions, thread-safe.
//
//   MedianInterval m = median_interval(samples);
//   if (m.relative_half_width() <= 0.005) stop();
#pragma once

#include <cstddef>
#include <span>

namespace assay {

/// The least number of samples for which a 95 % interval exists. For fewer samples the interval of
/// median_interval() goes from the smallest to the largest sample.
inline constexpr std::size_t kMinIntervalSamples = 6;

struct MedianInterval {
  double median = 0;
  double low = 0;
  double high = 0;

  /// Half of the interval's width divided by the median; 0 if the median is not positive.
  double relative_half_width() const { return median > 0 ? (high - low) / 2 / median : 0; }
};

/// Returns the median and its 95 % interval. All values are 0 if there are no samples.
MedianInterval median_interval(std::span<const double> samples);

/// Returns the mean of the middle half of the samples, or 0 if there are no samples. Like the
/// median, this mean ignores outliers. Unlike the median, it has a finer resolution than the clock.
/// It is also stable for a distribution with two peaks, between which the median jumps.
double interquartile_mean(std::span<const double> samples);

/// Returns the rank l, counted from 1, of the interval's lower end. Let x(1) to x(n) be the sorted
/// samples. The interval [x(l), x(n + 1 - l)] covers the median with a probability of at least 95
/// %. Returns 1 for fewer than kMinIntervalSamples samples.
std::size_t interval_rank(std::size_t n);

}  // namespace assay
