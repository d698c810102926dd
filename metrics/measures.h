// Computes the measures that published benchmarks define: pass@k, fast_p, GPU efficiency, cost per
// success, and the overall row of a table by difficulty. The functions take and return numbers;
// they know nothing about runs or reports. tests/metrics/published_test.cc recomputes the published
// tables. Pure functions, thread-safe.
//
//   pass_at_k(10, 3, 5);  // 0.9167: 3 of 10 samples are right, and 5 are drawn
//   cost_per_solved(24.08, 197);  // 0.122: dollars for each solved operator
//   fast_p(std::vector<Speed>{{true, 2.0}, {true, 0.5}, {false, {}}}, 1.0);  // 0.333
//   gpu_efficiency({.bytes = 1.2e9, .flops = 1e8},
//                  {.bytes_per_s = 4.8e12, .flops_per_s = 6.7e13}, 500'000);  // 0.5
//   overall(std::vector<DifficultyRow>{{3, 3, 1.16}, {22, 27, 1.69}});  // {25, 30, 0.83, 1.63}
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace assay::metrics {

/// The maximum number of samples of one operator. pass_at_k() would take noticeably long for more
/// samples.
inline constexpr std::int64_t kMostSamples = 1'000'000;

/// Returns the unbiased estimate of pass@k (Chen et al. 2021, arXiv 2107.03374). Of n samples for
/// an operator, c are right. If k of the n samples are drawn without replacement, at least one of
/// the k is right with probability 1 - C(n-c, k) / C(n, k). The result is exact to a few units in
/// the last place, even if it is tiny. Errors: invalid_argument unless 0 <= c <= n and 1 <= k <= n
/// <= kMostSamples.
Result<double> pass_at_k(std::int64_t n, std::int64_t c, std::int64_t k);

struct Speed {
  bool right = false;
  std::optional<double> speed_up;  // baseline latency / submission latency; empty: not timed
};

struct FastPoint {
  double p = 0;
  double share = 0;
};

/// The values of p at which the fast_p curves of a report have points.
inline constexpr std::array kFastThresholds = {0.0, 0.25, 0.5, 0.75, 0.9, 1.0,
                                               1.1, 1.25, 1.5, 2.0,  3.0, 5.0};

/// Returns fast_p (KernelBench, Ouyang et al. 2025, arXiv 2502.10517): the share of operators whose
/// submission is right and whose speed-up over the baseline exceeds p. fast_0 is the share of right
/// submissions. Returns nothing if there are no operators. Also returns nothing if a right
/// submission was not timed, because its speed is unknown, not low.
std::optional<double> fast_p(std::span<const Speed> operators, double p);

/// Returns fast_p for each threshold. Empty if fast_p() returns nothing.
std::vector<FastPoint> fast_curve(std::span<const Speed> operators,
                                  std::span<const double> thresholds = kFastThresholds);

struct Work {
  double bytes = 0;  // the least traffic that any implementation needs
  double flops = 0;  // the least number of operations
};

struct Peaks {
  double bytes_per_s = 0;
  double flops_per_s = 0;
};

/// Returns the GPU efficiency as TritonBench defines it (arXiv 2502.14752, appendix B). It is the
/// share of the device's peak bandwidth that a submission reaches, or its share of the peak
/// arithmetic rate if that is higher. TritonBench takes the highest efficiency among an operator's
/// sizes; a report shows the highest and the mean over the cases. Returns nothing if the latency or
/// the peaks are not positive.
std::optional<double> gpu_efficiency(const Work& work, const Peaks& peaks, double latency_ns);

/// Returns the same share as gpu_efficiency(), computed as floor / latency. The floor is the time
/// that the work takes at the device's peak rates.
std::optional<double> efficiency_of_floor(double floor_ns, double latency_ns);

/// Returns cost / rate. If the rate is the pass rate, the result is what TritonGym calls cost per
/// pass ($24.08 / 0.401 = $60.1); it grows with the size of the suite. If the rate is Perf@1, the
/// result is TritonGym's $/Perf. Returns nothing if the rate is not positive.
std::optional<double> cost_per_rate(double cost_usd, double rate);

/// Returns the cost of one solved operator. `solved` is the number of right submissions among all
/// samples that the cost includes. Returns nothing if `solved` is 0.
std::optional<double> cost_per_solved(double cost_usd, std::int64_t solved);

struct DifficultyRow {
  std::int64_t right = 0;
  std::int64_t total = 0;
  std::optional<double> speed_up;  // mean over the right operators; absent if no operator is right
};

struct OverallRow {
  std::int64_t right = 0;
  std::int64_t total = 0;
  double execution_accuracy = 0;
  // Absent if no operator is right, or if a row with right operators has no speed-up.
  std::optional<double> speed_up;
};

/// Returns the overall row of a table by difficulty, as GEAK computes it (arXiv 2507.23194). The
/// counts are sums over the rows. The speed-up is a mean over all right operators, so a row's
/// weight is the number of its right operators.
OverallRow overall(std::span<const DifficultyRow> rows);

}  // namespace assay::metrics
