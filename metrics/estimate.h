// A mean over operators with its 95 % interval: how every aggregate of a report is said. Values, thread-safe.
//
//   Estimate pass = estimate({1, 0, 1, 1}, kReportSeed);      // value 0.75, interval by bootstrap
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "metrics/bootstrap.h"

namespace assay::metrics {

/// Of every bootstrap in a report, so that the same run always gives the same numbers.
inline constexpr std::uint64_t kReportSeed = 20'260'101;

struct Estimate {
  double value = 0;
  std::int64_t count = 0;            // operators that it is the mean of
  std::optional<Interval> interval;  // none for fewer than two operators
};

/// Nothing for no values.
std::optional<Estimate> estimate(std::span<const double> values, std::uint64_t seed = kReportSeed);

}  // namespace assay::metrics
