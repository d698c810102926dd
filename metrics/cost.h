// The cost of a run per unit of success. TritonGym divides the cost by the pass rate ($24.08 /
// 0.401 = $60.1) and calls it cost per pass, although it depends on the size of the suite. The cost
// of one solved operator is the other figure here. Pure, thread-safe.
//
//   cost_per_rate(24.08, 0.401)    ->  60.05  (published as 60.1, from inputs before rounding)
//   cost_per_solved(24.08, 197)    ->  0.122  (0.401 of 3 agents x 164 operators)
#pragma once

#include <cstdint>
#include <optional>

namespace assay::metrics {

/// Cost / rate. With Perf@1 as the rate this is TritonGym's $/Perf. Nothing for a rate of 0.
std::optional<double> cost_per_rate(double cost_usd, double rate);

/// `solved` counts the right submissions of all samples that the cost includes. Nothing for 0.
std::optional<double> cost_per_solved(double cost_usd, std::int64_t solved);

}  // namespace assay::metrics
