#include "metrics/measures.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace assay::metrics {
namespace {

constexpr double kNsPerSecond = 1e9;

}  // namespace

Result<double> pass_at_k(std::int64_t n, std::int64_t c, std::int64_t k) {
  if (n < 1 || n > kMostSamples || c < 0 || c > n || k < 1 || k > n) {
    return fail(ErrorCode::invalid_argument,
                "pass@k needs 0 <= c <= n and 1 <= k <= n <= " + std::to_string(kMostSamples) +
                    "; n is " + std::to_string(n) + ", c " + std::to_string(c) + ", k " +
                    std::to_string(k));
  }
  if (c == 0) return 0.0;
  if (n - c < k) return 1.0;  // there are fewer than k wrong samples to draw
  // C(n-c, k) / C(n, k) is symmetric in c and k, so the product needs only min(c, k) factors.
  const auto [factors, drawn] = std::minmax(c, k);
  double log_none = 0;
  for (std::int64_t i = 0; i < factors; ++i)
    log_none += std::log1p(-static_cast<double>(drawn) / static_cast<double>(n - i));
  // This is 1 - exp(log_none). expm1() keeps the digits of the result if exp(log_none) is almost 1.
  return -std::expm1(log_none);
}

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

std::optional<double> gpu_efficiency(const Work& work, const Peaks& peaks, double latency_ns) {
  if (!(latency_ns > 0) || !(peaks.bytes_per_s > 0) || !(peaks.flops_per_s > 0))
    return std::nullopt;
  const double seconds = latency_ns / kNsPerSecond;
  return std::max(work.bytes / seconds / peaks.bytes_per_s,
                  work.flops / seconds / peaks.flops_per_s);
}

std::optional<double> efficiency_of_floor(double floor_ns, double latency_ns) {
  if (!(latency_ns > 0) || !(floor_ns >= 0)) return std::nullopt;
  return floor_ns / latency_ns;
}

std::optional<double> cost_per_rate(double cost_usd, double rate) {
  if (!(rate > 0)) return std::nullopt;
  return cost_usd / rate;
}

std::optional<double> cost_per_solved(double cost_usd, std::int64_t solved) {
  if (solved < 1) return std::nullopt;
  return cost_usd / static_cast<double>(solved);
}

OverallRow overall(std::span<const DifficultyRow> rows) {
  OverallRow sum;
  double weighted = 0;
  bool known = true;
  for (const DifficultyRow& row : rows) {
    sum.right += row.right;
    sum.total += row.total;
    if (row.right == 0) continue;
    if (row.speed_up) weighted += *row.speed_up * static_cast<double>(row.right);
    known = known && row.speed_up.has_value();
  }
  if (sum.total > 0)
    sum.execution_accuracy = static_cast<double>(sum.right) / static_cast<double>(sum.total);
  if (known && sum.right > 0) sum.speed_up = weighted / static_cast<double>(sum.right);
  return sum;
}

}  // namespace assay::metrics
