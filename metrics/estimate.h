// A mean over operators with its 95 % interval: the form of every aggregate of a report. Pure,
// thread-safe.
//
//   std::optional<Estimate> pass = estimate_share(std::vector<double>{1, 0, 1, 1});
//   pass->value  ->  0.75, with an interval by bootstrap
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "metrics/bootstrap.h"

namespace assay::metrics {

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

}  // namespace assay::metrics
