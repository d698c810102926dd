// A mean over operators with its 95 % interval: the form of every aggregate of a report. Pure,
// thread-safe.
//
//   std::optional<Estimate> pass = estimate_share(std::vector<double>{1, 0, 1, 1});
//   pass->value  ->  0.75, with an interval by bootstrap
//
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
//
// Wilson's score interval of a share (Wilson 1927), 95 %. Unlike the bootstrap it does not shrink
// to a point at 0 or 1. Pure, thread-safe.
//
//   wilson_interval(8, 16)  ->  {0.280, 0.720}
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

/// The seed of every bootstrap in a report, so that a run always gives the same numbers.
inline constexpr std::uint64_t kReportSeed = 20'260'101;

enum class IntervalMethod { none, bootstrap, wilson };

struct Estimate {
  double value = 0;
  std::int64_t count = 0;  // of operators
  Interval interval;       // meaningless with `none`
  IntervalMethod method = IntervalMethod::none;
};

/// The mean with an interval by bootstrap. One operator, or values that are all equal, get no
/// interval, because a bootstrap would claim certainty. Nothing for no values.
std::optional<Estimate> estimate(std::span<const double> values, std::uint64_t seed = kReportSeed);

/// The same for shares (0 to 1). If estimate() gives no interval, it takes Wilson's.
std::optional<Estimate> estimate_share(std::span<const double> values,
                                       std::uint64_t seed = kReportSeed);

/// `successes` may be a fraction: with several samples it is the sum of the shares of the
/// operators. {0, 1} without trials.
Interval wilson_interval(double successes, std::int64_t trials);

}  // namespace assay::metrics
