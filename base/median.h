// The median of timing samples and its 95 % confidence interval, from order statistics: no
// assumption about the distribution, which for kernel times is skewed. And a mean that outliers do
// not reach. Pure, thread-safe.
//
//   MedianInterval m = median_interval(samples);
//   if (m.relative_half_width() <= 0.005) stop();
#pragma once

#include <cstddef>
#include <span>

namespace assay {

/// Fewer samples have no 95 % interval; median_interval() then gives the smallest and the largest.
inline constexpr std::size_t kMinIntervalSamples = 6;

struct MedianInterval {
  double median = 0;
  double low = 0;
  double high = 0;

  /// Half of the interval's width over the median; 0 when the median is 0.
  double relative_half_width() const { return median > 0 ? (high - low) / 2 / median : 0; }
};

/// All zero without samples.
MedianInterval median_interval(std::span<const double> samples);

/// The mean of the middle half: as deaf to outliers as the median, finer than the tick of the clock
/// that samples were read from, and steady where they fall into two heaps, between which the median
/// jumps. 0 without samples.
double interquartile_mean(std::span<const double> samples);

/// The rank l, from 1, such that [x(l), x(n + 1 - l)] of n sorted samples covers the median with at
/// least 95 %; 1 for few samples.
std::size_t interval_rank(std::size_t n);

}  // namespace assay
