#include "metrics/pass_at_k.h"

#include <cstdint>

#include "tests/catch.h"

using namespace assay;
using namespace assay::metrics;

namespace {

/// C(n, k), exact for the small n of these tests: each step divides without a remainder.
std::uint64_t choose(std::uint64_t n, std::uint64_t k) {
  if (k > n) return 0;
  std::uint64_t result = 1;
  for (std::uint64_t i = 1; i <= k; ++i) result = result * (n - k + i) / i;
  return result;
}

double value(std::int64_t n, std::int64_t c, std::int64_t k) {
  const Result<double> found = pass_at_k(n, c, k);
  REQUIRE(found);
  return *found;
}

}  // namespace

TEST_CASE("pass@k equals the exact fraction") {
  for (std::uint64_t n = 1; n <= 30; ++n) {
    for (std::uint64_t c = 0; c <= n; ++c) {
      for (std::uint64_t k = 1; k <= n; ++k) {
        const std::uint64_t all = choose(n, k);
        const double exact = static_cast<double>(all - choose(n - c, k)) /
                             static_cast<double>(all);  // one rounding of integers below 2^53
        const auto found = value(static_cast<std::int64_t>(n), static_cast<std::int64_t>(c),
                                 static_cast<std::int64_t>(k));
        INFO("n " << n << ", c " << c << ", k " << k);
        CHECK(found == Approx(exact).epsilon(1e-14));
      }
    }
  }
}

TEST_CASE("pass@k: by hand") {
  CHECK(value(10, 3, 1) == Approx(0.3).epsilon(1e-15));
  CHECK(value(10, 3, 5) == Approx(11.0 / 12).epsilon(1e-15));  // 1 - C(7,5) / C(10,5) = 1 - 21/252
  CHECK(value(5, 0, 5) == 0);
  CHECK(value(5, 1, 5) == 1);
}

TEST_CASE("pass@k is stable where the binomials overflow and where the answer is tiny") {
  CHECK(value(1'000'000, 1, 1) == Approx(1e-6).epsilon(1e-13));
  CHECK(value(1'000'000, 500'000, 1) == Approx(0.5).epsilon(1e-12));
  CHECK(value(1'000'000, 2, 3) ==
        Approx(6e-6 - 6.0 / (1e6 * 999'999))
            .epsilon(1e-12));  // 1 - (1-3/n)(1-3/(n-1)) = 6/n - 6/(n(n-1)), by algebra
  CHECK(value(200, 100, 100) == Approx(1));
}

TEST_CASE("pass@k refuses what has no answer") {
  CHECK_FALSE(pass_at_k(5, 1, 6));
  CHECK_FALSE(pass_at_k(5, 6, 1));
  CHECK_FALSE(pass_at_k(5, -1, 1));
  CHECK_FALSE(pass_at_k(0, 0, 1));
  CHECK_FALSE(pass_at_k(5, 1, 0));
  CHECK(pass_at_k(5, 1, 6).error().message.find("k 6") != std::string::npos);
}
