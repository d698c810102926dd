// Estimates a mean over operators with its 95 % confidence interval. Every aggregate of a report
// has this form. The interval comes from a bootstrap over the operators; Wilson's score interval
// replaces it where a bootstrap would claim certainty. The same values and seed give the same
// interval on every machine. Pure functions, thread-safe.
//
//   const std::vector<double> passed = {1, 0, 1, 1};
//   std::optional<Estimate> pass = estimate_share(passed);  // value 0.75, method bootstrap
//   bootstrap_mean(passed, {.seed = 7});  // the interval alone
//   wilson_interval(8, 16);  // {0.280, 0.720}
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace assay::metrics {

/// The seed of every bootstrap in a report, so that a run always gives the same numbers.
inline constexpr std::uint64_t kReportSeed = 20'260'101;
inline constexpr std::int64_t kBootstrapResamples = 5'000;
inline constexpr double kConfidence = 0.95;

struct Interval {
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

enum class IntervalMethod { none, bootstrap, wilson };

struct Estimate {
  double value = 0;
  std::int64_t count = 0;  // number of operators
  Interval interval;       // meaningless with `none`
  IntervalMethod method = IntervalMethod::none;
};

/// The mean with an interval by bootstrap. One operator, or values that are all equal, get no
/// interval, because a bootstrap would claim certainty. Returns nothing for no values.
std::optional<Estimate> estimate(std::span<const double> values, std::uint64_t seed = kReportSeed);

/// Does the same for shares (0 to 1). If estimate() gives no interval, this takes Wilson's.
std::optional<Estimate> estimate_share(std::span<const double> values,
                                       std::uint64_t seed = kReportSeed);

struct BootstrapOptions {
  std::uint64_t seed = 0;
  std::int64_t resamples = kBootstrapResamples;
  double confidence = kConfidence;
};

/// The percentile bootstrap over operators (Efron 1979): it draws the operators again with
/// replacement, takes the mean of each draw, and returns the middle 95 % of these means. It draws
/// operators rather than samples, because the samples of one operator resemble each other. If all
/// values are equal, the interval is a point, although a larger suite would differ. Returns nothing
/// for fewer than two values: one operator does not show how operators differ.
std::optional<Interval> bootstrap_mean(std::span<const double> values,
                                       const BootstrapOptions& options);

/// Wilson's score interval of a share (Wilson 1927), 95 %. Unlike the bootstrap it does not shrink
/// to a point at 0 or 1. `successes` may be a fraction: with several samples it is the sum of the
/// shares of the operators. Returns {0, 1} without trials.
Interval wilson_interval(double successes, std::int64_t trials);

/// 0 for no values.
double mean(std::span<const double> values);

/// A quantile of values in ascending order, interpolated between neighbours (R's type 7). `share`
/// is from 0 to 1, and there is at least one value.
double quantile(std::span<const double> ascending, double share);

}  // namespace assay::metrics
