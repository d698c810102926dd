#include "metrics/cost.h"

namespace assay::metrics {

std::optional<double> cost_per_rate(double cost_usd, double rate) {
  if (!(rate > 0)) return std::nullopt;
  return cost_usd / rate;
}

std::optional<double> cost_per_solved(double cost_usd, std::int64_t solved) {
  if (solved < 1) return std::nullopt;
  return cost_usd / static_cast<double>(solved);
}

}  // namespace assay::metrics
