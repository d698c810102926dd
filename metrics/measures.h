// Computes the measures that published benchmarks define: pass@k, fast_p, GPU efficiency, cost per
// success, and the overall row of a table by difficulty. Numbers in, numbers out: nothing here
// knows runs or reports. tests/metrics/published_test.cc recomputes the published tables. Pure
// functions, thread-safe.
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

/// The most samples of one operator. More would take noticeably long.
inline constexpr std::int64_t kMostSamples = 1'000'000;

/// The unbiased pass@k (Chen et al. 2021, arXiv 2107.03374). If c of n samples for an operator are
/// right, at least one of k samples drawn without replacement is right with probability
/// 1 - C(n-c, k) / C(n, k). The result is exact to a few units in the last place, even if it is
/// tiny. Error: invalid_argument unless 0 <= c <= n and 1 <= k <= n <= kMostSamples.
Result<double> pass_at_k(std::int64_t n, std::int64_t c, std::int64_t k);

struct Speed {
  bool right = false;
  std::optional<double> speed_up;  // baseline latency / submission latency; empty: not timed
};

struct FastPoint {
  double p = 0;
  double share = 0;
};

/// The points of the curves in a report.
inline constexpr std::array kFastThresholds = {0.0, 0.25, 0.5, 0.75, 0.9, 1.0,
                                               1.1, 1.25, 1.5, 2.0,  3.0, 5.0};

/// fast_p (KernelBench, Ouyang et al. 2025, arXiv 2502.10517): the share of operators whose
/// submission is right and whose speed-up over the baseline exceeds p. fast_0 is the share of right
/// submissions. Returns nothing without operators, and nothing if a right submission was not timed:
/// its speed is unknown, not low.
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

/// GPU efficiency as TritonBench defines it (arXiv 2502.14752, appendix B): the share of the
/// device's peak that a submission reaches, in memory bandwidth or in arithmetic, whichever is
/// higher. TritonBench takes the best of an operator's sizes; a report shows that and the mean over
/// the cases. Returns nothing without a latency or a peak.
std::optional<double> gpu_efficiency(const Work& work, const Peaks& peaks, double latency_ns);

/// The same share from the time that the work takes at peak: floor / latency.
std::optional<double> efficiency_of_floor(double floor_ns, double latency_ns);

/// Cost / rate. TritonGym divides by the pass rate ($24.08 / 0.401 = $60.1) and calls the result
/// cost per pass, although it depends on the size of the suite. With Perf@1 as the rate this is
/// TritonGym's $/Perf. Returns nothing for a rate of 0.
std::optional<double> cost_per_rate(double cost_usd, double rate);

/// The cost of one solved operator. `solved` counts the right submissions of all samples that the
/// cost includes. Returns nothing for 0.
std::optional<double> cost_per_solved(double cost_usd, std::int64_t solved);

struct DifficultyRow {
  std::int64_t right = 0;
  std::int64_t total = 0;
  std::optional<double> speed_up;  // mean over the right operators; absent if there are none
};

struct OverallRow {
  std::int64_t right = 0;
  std::int64_t total = 0;
  double execution_accuracy = 0;
  std::optional<double> speed_up;  // absent if a row with right operators has none
};

/// The overall row of a table by difficulty, as GEAK computes it (arXiv 2507.23194). Counts add up.
/// The speed-up is a mean over the right operators, so the weight of a row is the number of its
/// right operators.
OverallRow overall(std::span<const DifficultyRow> rows);

}  // namespace assay::metrics
