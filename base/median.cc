#include "base/median.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace assay {
namespace {

constexpr double kOneSided = 0.025;       // the probability on each side of a 95 % interval
constexpr double kNormalQuantile = 1.96;  // the quantile of the normal distribution for kOneSided
/// The largest number of samples for which interval_rank() computes the exact rank. For more
/// samples it uses the normal approximation, whose error is at most one rank.
constexpr std::size_t kExactSamples = 1000;

}  // namespace

std::size_t interval_rank(std::size_t n) {
  const auto count = static_cast<double>(n);
  if (n > kExactSamples)
    return static_cast<std::size_t>(std::floor((count - kNormalQuantile * std::sqrt(count)) / 2));
  // The number of samples below the median has the distribution Binomial(n, 1/2). This loop adds
  // the probabilities of 0, 1, 2, ... samples until their sum exceeds kOneSided.
  double log_probability = -count * std::log(2.0);
  double tail = std::exp(log_probability);
  std::size_t rank = 0;
  while (tail <= kOneSided && rank < n / 2) {
    ++rank;
    log_probability +=
        std::log((count - static_cast<double>(rank) + 1) / static_cast<double>(rank));
    tail += std::exp(log_probability);
  }
  return std::max<std::size_t>(rank, 1);
}

MedianInterval median_interval(std::span<const double> samples) {
  if (samples.empty()) return {};
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  const std::size_t rank = interval_rank(n);
  return {n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2, sorted[rank - 1],
          sorted[n - rank]};
}

double interquartile_mean(std::span<const double> samples) {
  if (samples.empty()) return 0;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const auto quarter = static_cast<std::ptrdiff_t>(sorted.size() / 4);
  const auto first = sorted.begin() + quarter, last = sorted.end() - quarter;
  return std::accumulate(first, last, 0.0) / static_cast<double>(last - first);
}

}  // namespace assay
