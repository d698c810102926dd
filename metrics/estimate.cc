#include "metrics/estimate.h"

#include "metrics/wilson.h"

namespace assay::metrics {

std::optional<Estimate> estimate(std::span<const double> values, std::uint64_t seed) {
  if (values.empty()) return std::nullopt;
  Estimate found;
  found.value = mean(values);
  found.count = static_cast<std::int64_t>(values.size());
  BootstrapOptions options;
  options.seed = seed;
  const std::optional<Interval> interval = bootstrap_mean(values, options);
  if (interval && interval->low < interval->high) {
    found.interval = *interval;
    found.method = IntervalMethod::bootstrap;
  }
  return found;
}

std::optional<Estimate> estimate_share(std::span<const double> values, std::uint64_t seed) {
  std::optional<Estimate> found = estimate(values, seed);
  if (found && found->method == IntervalMethod::none) {
    found->interval =
        wilson_interval(found->value * static_cast<double>(found->count), found->count);
    found->method = IntervalMethod::wilson;
  }
  return found;
}

}  // namespace assay::metrics
