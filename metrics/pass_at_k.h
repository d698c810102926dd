// pass@k, unbiased (Chen et al. 2021, arXiv 2107.03374): of n samples for an operator c are right;
// the probability that at least one of k samples drawn without replacement is right is 1 - C(n-c,
// k) / C(n, k). Pure, thread-safe.
//
//   pass_at_k(10, 3, 1)  ->  0.3
//   pass_at_k(10, 3, 5)  ->  0.91666...
#pragma once

#include <cstdint>

#include "base/result.h"

namespace assay::metrics {

/// Per operator. More samples would take noticeably long.
inline constexpr std::int64_t kMostSamples = 1'000'000;

/// Exact to a few units in the last place, even for tiny results. invalid_argument unless
/// 0 <= c <= n and 1 <= k <= n <= kMostSamples.
Result<double> pass_at_k(std::int64_t n, std::int64_t c, std::int64_t k);

}  // namespace assay::metrics
