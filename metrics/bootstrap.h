// Confidence intervals by the percentile bootstrap over operators (Efron 1979): it draws the
// operators again with replacement, takes the mean of each draw, and returns the middle 95 % of
// these means. It draws operators rather than samples, because the samples of one operator resemble
// each other. The same values and seed give the same interval on every machine. Pure, thread-safe.
//
//   std::optional<Interval> interval =
//       bootstrap_mean(std::vector<double>{1, 0, 0, 1, 1}, {.seed = 7});
//
// If all values are equal, the interval is a point, although a larger suite would differ. For a
// share of 0 or 1 use Wilson's interval instead.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace assay::metrics {

inline constexpr std::int64_t kBootstrapResamples = 5'000;
inline constexpr double kConfidence = 0.95;

struct Interval {
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

struct BootstrapOptions {
  std::uint64_t seed = 0;
  std::int64_t resamples = kBootstrapResamples;
  double confidence = kConfidence;
};

/// Nothing for fewer than two values: one operator does not show how operators differ.
std::optional<Interval> bootstrap_mean(std::span<const double> values,
                                       const BootstrapOptions& options);

/// 0 for no values.
double mean(std::span<const double> values);

/// A quantile of values in ascending order, interpolated between neighbours (R's type 7). `share`
/// is from 0 to 1, and there is at least one value.
double quantile(std::span<const double> ascending, double share);

}  // namespace assay::metrics
