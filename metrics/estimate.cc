#include "metrics/estimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace assay::metrics {
namespace {

/// Draws uniform integers in [0, bound), without bias. It uses a random engine of the C++ standard
/// library, but none of the library's distributions: their results differ between implementations
/// of the library.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t bound)
      : engine_(seed), bound_(bound), last_(kMost - (kMost % bound + 1) % bound) {}

  std::size_t next() {
    std::uint64_t value = engine_();
    while (value > last_) value = engine_();
    return static_cast<std::size_t>(value % bound_);
  }

 private:
  static constexpr std::uint64_t kMost = std::mt19937_64::max();
  std::mt19937_64 engine_;
  // Draws of the engine above `last_` are discarded, because they would make small results more
  // likely than large results.
  const std::uint64_t bound_, last_;
};

}  // namespace

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

double mean(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double quantile(std::span<const double> ascending, double share) {
  const double place = share * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  return ascending[below] + (place - std::floor(place)) * (ascending[above] - ascending[below]);
}

std::optional<Interval> bootstrap_mean(std::span<const double> values,
                                       const BootstrapOptions& options) {
  if (values.size() < 2 || options.resamples < 1) return std::nullopt;
  Draws draws(options.seed, values.size());
  std::vector<double> means;
  means.reserve(static_cast<std::size_t>(options.resamples));
  for (std::int64_t i = 0; i < options.resamples; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < values.size(); ++j) sum += values[draws.next()];
    means.push_back(sum / static_cast<double>(values.size()));
  }
  std::sort(means.begin(), means.end());
  const double tail = (1 - options.confidence) / 2;
  return Interval{quantile(means, tail), quantile(means, 1 - tail)};
}

Interval wilson_interval(double successes, std::int64_t trials) {
  if (trials <= 0) return {0, 1};
  constexpr double kZ = 1.959963984540054;  // the 97.5 % quantile of the normal distribution
  const double n = static_cast<double>(trials);
  const double p = successes / n;
  const double centre = p + kZ * kZ / (2 * n);
  const double half = kZ * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n));
  const double scale = 1 + kZ * kZ / n;
  return {std::max(0.0, (centre - half) / scale), std::min(1.0, (centre + half) / scale)};
}

}  // namespace assay::metrics
