// fast_p (KernelBench, Ouyang et al. 2025, arXiv 2502.10517): the share of operators whose
// submission is right and whose speed-up over the baseline exceeds p. fast_0 is the share of right
// ones. Pure, thread-safe.
//
//   fast_p({{true, 2.0}, {true, 0.5}, {false, {}}}, 1.0)  ->  0.333...
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace assay::metrics {

struct Speed {
  bool right = false;
  std::optional<double> speed_up;  // baseline latency / submission latency; none: not timed
};

struct FastPoint {
  double p = 0;
  double share = 0;
};

/// The points of the curves in a report.
inline constexpr std::array kFastThresholds = {0.0, 0.25, 0.5, 0.75, 0.9, 1.0,
                                               1.1, 1.25, 1.5, 2.0,  3.0, 5.0};

/// Nothing without operators, and nothing if a right submission was not timed: its speed is
/// unknown, not low.
std::optional<double> fast_p(std::span<const Speed> operators, double p);

/// Empty if fast_p() returns nothing.
std::vector<FastPoint> fast_curve(std::span<const Speed> operators,
                                  std::span<const double> thresholds = kFastThresholds);

}  // namespace assay::metrics
