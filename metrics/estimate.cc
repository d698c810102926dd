#include "metrics/estimate.h"

namespace assay::metrics {

std::optional<Estimate> estimate(std::span<const double> values, std::uint64_t seed) {
  if (values.empty()) return std::nullopt;
  BootstrapOptions options;
  options.seed = seed;
  return Estimate{mean(values), static_cast<std::int64_t>(values.size()), bootstrap_mean(values, options)};
}

}  // namespace assay::metrics
