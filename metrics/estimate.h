// A mean over operators with its 95 % interval: how every aggregate of a report is said. Pure,
// thread-safe.
//
//   std::optional<Estimate> pass = estimate_share({1, 0, 1, 1});      // value 0.75, interval by
//   bootstrap
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "metrics/bootstrap.h"

namespace assay::metrics {

/// Of every bootstrap in a report, so that the same run always gives the same numbers.
inline constexpr std::uint64_t kReportSeed = 20'260'101;

enum class IntervalMethod { none, bootstrap, wilson };

struct Estimate {
  double value = 0;
  std::int64_t count = 0;  // operators that it is the mean of
  Interval interval;       // meaningless with `none`
  IntervalMethod method = IntervalMethod::none;
};

/// By bootstrap. No interval for one operator, nor where all values are equal: a bootstrap would
/// claim certainty. Nothing for no values.
std::optional<Estimate> estimate(std::span<const double> values, std::uint64_t seed = kReportSeed);

/// Of values that are shares (0 to 1): where estimate() has no interval, Wilson's.
std::optional<Estimate> estimate_share(std::span<const double> values,
                                       std::uint64_t seed = kReportSeed);

}  // namespace assay::metrics
