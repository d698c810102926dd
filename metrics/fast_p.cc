#include "metrics/fast_p.h"

#include <algorithm>

namespace assay::metrics {

std::optional<double> fast_p(std::span<const Speed> operators, double p) {
  if (operators.empty()) return std::nullopt;
  if (std::any_of(operators.begin(), operators.end(),
                  [](const Speed& speed) { return speed.right && !speed.speed_up; }))
    return std::nullopt;
  const auto fast = std::count_if(operators.begin(), operators.end(), [p](const Speed& speed) {
    return speed.right && *speed.speed_up > p;
  });
  return static_cast<double>(fast) / static_cast<double>(operators.size());
}

std::vector<FastPoint> fast_curve(std::span<const Speed> operators,
                                  std::span<const double> thresholds) {
  std::vector<FastPoint> curve;
  for (const double p : thresholds) {
    const std::optional<double> share = fast_p(operators, p);
    if (!share) return {};
    curve.push_back({p, *share});
  }
  return curve;
}

}  // namespace assay::metrics
