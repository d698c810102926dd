// Confidence intervals by the percentile bootstrap over operators (Efron 1979): operators are drawn
// again with replacement, the mean is taken each time, and the interval holds the middle 95 % of
// these means. Operators, not samples, are what a suite is a draw of: samples of one operator
// resemble each other. The same values and seed give the same interval on every machine. Pure,
// thread-safe.
//
//   std::optional<Interval> interval = bootstrap_mean({1, 0, 0, 1, 1}, {.seed = 7});
//
// Where all values are equal the interval is a point, although a larger suite would differ: a share
// of 0 or 1 is better shown with Wilson's.
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

/// Nothing for fewer than two values: one operator says nothing about the spread between operators.
std::optional<Interval> bootstrap_mean(std::span<const double> values,
                                       const BootstrapOptions& options);

/// 0 for no values.
double mean(std::span<const double> values);

/// Of values in ascending order, interpolated between neighbours (the most common definition, R's
/// type 7). `share` is 0..1; not for no values.
double quantile(std::span<const double> ascending, double share);

}  // namespace assay::metrics
