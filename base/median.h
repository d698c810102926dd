// The median of timing samples with its 95 % confidence interval, and the interquartile mean. The
// interval uses order statistics, so it assumes no distribution; kernel times are skewed. Pure
// functions, thread-safe.
//
//   MedianInterval m = median_interval(samples);
//   if (m.relative_half_width() <= 0.005) stop();
#pragma once

#include <cstddef>
#include <span>

namespace assay {

/// The least number of samples with a 95 % interval. For fewer samples median_interval() returns
/// the smallest and the largest sample.
inline constexpr std::size_t kMinIntervalSamples = 6;

struct MedianInterval {
  double median = 0;
  double low = 0;
  double high = 0;

  /// Half of the interval's width divided by the median; 0 if the median is 0.
  double relative_half_width() const { return median > 0 ? (high - low) / 2 / median : 0; }
};

/// Returns zeros if there are no samples.
MedianInterval median_interval(std::span<const double> samples);

/// Returns the mean of the middle half of the samples, or 0 without samples. Like the median it
/// ignores outliers. It has a finer resolution than the clock, and it is stable for a bimodal
/// distribution, where the median jumps between the modes.
double interquartile_mean(std::span<const double> samples);

/// Returns the rank l, from 1, for which [x(l), x(n + 1 - l)] of n sorted samples covers the median
/// with a probability of at least 95 %. Returns 1 for few samples.
std::size_t interval_rank(std::size_t n);

}  // namespace assay
