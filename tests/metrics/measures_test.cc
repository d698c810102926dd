#include "metrics/measures.h"

#include <cstdint>
#include <vector>

#include "tests/catch.h"

using namespace assay;
using namespace assay::metrics;

namespace {

/// Returns the binomial coefficient C(n, k). The result is exact for the small n of these tests,
/// because each step divides without a remainder.
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
        // Both integers are below 2^53, so only the division rounds.
        const double exact = static_cast<double>(all - choose(n - c, k)) / static_cast<double>(all);
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
  // For c = 2 and k = 3, pass@k is 1 - (1 - 3/n)(1 - 3/(n-1)) = 6/n - 6/(n(n-1)).
  CHECK(value(1'000'000, 2, 3) == Approx(6e-6 - 6.0 / (1e6 * 999'999)).epsilon(1e-12));
  CHECK(value(200, 100, 100) == Approx(1));
}

TEST_CASE("pass@k refuses arguments out of range") {
  CHECK_FALSE(pass_at_k(5, 1, 6));
  CHECK_FALSE(pass_at_k(5, 6, 1));
  CHECK_FALSE(pass_at_k(5, -1, 1));
  CHECK_FALSE(pass_at_k(0, 0, 1));
  CHECK_FALSE(pass_at_k(5, 1, 0));
  CHECK(pass_at_k(5, 1, 6).error().message.find("k 6") != std::string::npos);
}

TEST_CASE("fast_p counts right ones above p, of all operators") {
  const std::vector<Speed> operators = {
      {true, 2.0}, {true, 1.0}, {true, 0.5}, {false, 9.0}, {false, std::nullopt}};
  CHECK(fast_p(operators, 0) == 3.0 / 5);  // fast_0 is the share of right submissions
  CHECK(fast_p(operators, 0.5) == 2.0 / 5);
  CHECK(fast_p(operators, 1.0) == 1.0 / 5);  // a speed-up of exactly 1.0 does not count
  CHECK(fast_p(operators, 2.0) == 0.0);
}

TEST_CASE("fast_p is unknown where a right one was not timed") {
  CHECK_FALSE(fast_p(std::vector<Speed>{{true, std::nullopt}, {true, 1.5}}, 0));
  CHECK_FALSE(fast_p(std::vector<Speed>{}, 1));
  CHECK(fast_curve(std::vector<Speed>{{true, std::nullopt}}).empty());
}

TEST_CASE("the curve never rises") {
  const std::vector<FastPoint> curve =
      fast_curve(std::vector<Speed>{{true, 0.3}, {true, 1.2}, {false, {}}, {true, 4}});
  REQUIRE(curve.size() == kFastThresholds.size());
  for (std::size_t i = 1; i < curve.size(); ++i) CHECK(curve[i].share <= curve[i - 1].share);
}

TEST_CASE("GPU efficiency is the better of both resources") {
  const Peaks peaks = {4.0e12, 60e12};
  // The submission moves 2e12 of at most 4e12 bytes/s, and computes 3e12 of at most 60e12 flop/s.
  CHECK(*gpu_efficiency({4.0e8, 6.0e8}, peaks, 200'000) == Approx(0.5));
  // The submission moves 2e10 of at most 4e12 bytes/s, and computes 3e13 of at most 60e12 flop/s.
  CHECK(*gpu_efficiency({4.0e6, 6.0e9}, peaks, 200'000) == Approx(0.5));
  CHECK_FALSE(gpu_efficiency({1, 1}, peaks, 0));
  CHECK_FALSE(gpu_efficiency({1, 1}, {0, 1}, 1));
}

TEST_CASE("floor over latency gives the same efficiency") {
  const Work work = {4.0e8, 6.0e8};
  const Peaks peaks = {4.0e12, 60e12};
  const double floor_ns = 1e9 * 4.0e8 / 4.0e12;  // the time of memory, which exceeds arithmetic's
  CHECK(*efficiency_of_floor(floor_ns, 200'000) == Approx(*gpu_efficiency(work, peaks, 200'000)));
  CHECK_FALSE(efficiency_of_floor(1, 0));
}
