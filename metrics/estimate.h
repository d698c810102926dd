// Estimates a mean over operators with its 95 % confidence interval. Every mean in a report is such
// an estimate. The interval comes from a bootstrap over the operators. If there is only one
// operator, or if all values are equal, a bootstrap interval would have width 0. In that case a
// share gets Wilson's score interval, and any other mean has no interval. The same values and the
// same seed give the same interval on every machine. Pure functions, thread-safe.
//
//   const std::vector<double> passed = {1, 0, 1, 1};
//   std::optional<Estimate> pass = estimate_share(passed);  // value 0.75, method bootstrap
//   bootstrap_mean(passed, {.seed = 7});  // returns only the interval
//   wilson_interval(8, 16);  // {0.280, 0.720}
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace assay::metrics {

/// The seed of every bootstrap in a report. It is fixed, so that reports on the same run have the
/// same numbers.
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
  std::int64_t count = 0;  // the number of operators
  Interval interval;       // meaningless if the method is `none`
  IntervalMethod method = IntervalMethod::none;
};

/// Returns the mean of `values` with a bootstrap interval. There is no interval for a single value,
/// or if all values are equal, because the interval would have width 0. Returns nothing if there
/// are no values.
std::optional<Estimate> estimate(std::span<const double> values, std::uint64_t seed = kReportSeed);

/// Returns the mean of shares (0 to 1) with an interval: the bootstrap interval of estimate(), or
/// Wilson's score interval if there is no bootstrap interval.
std::optional<Estimate> estimate_share(std::span<const double> values,
                                       std::uint64_t seed = kReportSeed);

struct BootstrapOptions {
  std::uint64_t seed = 0;
  std::int64_t resamples = kBootstrapResamples;
  double confidence = kConfidence;
};

/// Returns the interval of a percentile bootstrap over operators (Efron 1979). Each resample draws
/// as many operators as there are, with replacement. The interval contains the middle part of the
/// resamples' means; `confidence` is the size of this part. The bootstrap draws operators rather
/// than samples, because the samples of one operator resemble each other. If all values are equal,
/// the interval is a point; then it is too narrow. Returns nothing for fewer than two values,
/// because one operator does not show how operators differ.
std::optional<Interval> bootstrap_mean(std::span<const double> values,
                                       const BootstrapOptions& options);

/// Returns Wilson's 95 % score interval of the share `successes` / `trials` (Wilson 1927). Unlike a
/// bootstrap interval, it does not shrink to a point if the share is 0 or 1. `successes` may be a
/// fraction: if operators have several samples, it is the sum of the operators' shares. Returns {0,
/// 1} if `trials` is 0.
Interval wilson_interval(double successes, std::int64_t trials);

/// Returns the mean of the values, or 0 if there are none.
double mean(std::span<const double> values);

/// Returns a quantile of values in ascending order. It interpolates between neighbouring values
/// (type 7 in R). `share` is from 0 to 1, and there must be at least one value.
double quantile(std::span<const double> ascending, double share);

}  // namespace assay::metrics
