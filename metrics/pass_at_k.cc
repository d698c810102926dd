#include "metrics/pass_at_k.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace assay::metrics {

Result<double> pass_at_k(std::int64_t n, std::int64_t c, std::int64_t k) {
  if (n < 1 || n > kMostSamples || c < 0 || c > n || k < 1 || k > n) {
    return fail(ErrorCode::invalid_argument,
                "pass@k needs 0 <= c <= n and 1 <= k <= n <= " + std::to_string(kMostSamples) +
                    "; n is " + std::to_string(n) + ", c " + std::to_string(c) + ", k " +
                    std::to_string(k));
  }
  if (c == 0) return 0.0;
  if (n - c < k) return 1.0;  // too few wrong ones to draw k of
  // C(n-c, k) / C(n, k) is symmetric in c and k: the product over the shorter of both.
  const auto [factors, drawn] = std::minmax(c, k);
  double log_none = 0;
  for (std::int64_t i = 0; i < factors; ++i)
    log_none += std::log1p(-static_cast<double>(drawn) / static_cast<double>(n - i));
  return -std::expm1(
      log_none);  // 1 - product, without the cancellation where the product is almost 1
}

}  // namespace assay::metrics
