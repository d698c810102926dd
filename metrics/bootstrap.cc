#include "metrics/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace assay::metrics {
namespace {

/// Uniform in [0, bound), without bias. The standard's distributions differ between libraries; its
/// engines do not.
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
  const std::uint64_t bound_, last_;  // beyond `last_` some values would be more frequent
};

}  // namespace

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

}  // namespace assay::metrics
