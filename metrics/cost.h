// What a run cost per unit of success. TritonGym divides the cost by the pass *rate* ($24.08 /
// 0.401 = $60.1) and calls it cost per pass; that depends on the size of the suite. Beside it
// stands what one solved operator really cost. Pure, thread-safe.
//
//   cost_per_rate(24.08, 0.401)          ->  60.05      (published as 60.1, from unrounded inputs)
//   cost_per_solved(24.08, 197)          ->  0.122      (0.401 of 3 agents x 164 operators)
#pragma once

#include <cstdint>
#include <optional>

namespace assay::metrics {

/// Also TritonGym's $/Perf, with Perf@1 for the rate. Nothing for a rate of 0.
std::optional<double> cost_per_rate(double cost_usd, double rate);

/// `solved`: right submissions, over all samples that the cost paid for. Nothing for none.
std::optional<double> cost_per_solved(double cost_usd, std::int64_t solved);

}  // namespace assay::metrics
