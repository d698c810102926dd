// Wilson's score interval of a share (Wilson 1927), 95 %. Unlike the bootstrap it does not shrink
// to a point at 0 or 1. Pure, thread-safe.
//
//   wilson_interval(8, 16)  ->  {0.280, 0.720}
#pragma once

#include <cstdint>

#include "metrics/bootstrap.h"

namespace assay::metrics {

/// `successes` may be a fraction: with several samples it is the sum of the shares of the
/// operators. {0, 1} without trials.
Interval wilson_interval(double successes, std::int64_t trials);

}  // namespace assay::metrics
