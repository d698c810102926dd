#include "metrics/fast_p.h"

#include <vector>

#include "tests/catch.h"

using namespace assay::metrics;

TEST_CASE("fast_p counts right ones above p, of all operators") {
  const std::vector<Speed> operators = {
      {true, 2.0}, {true, 1.0}, {true, 0.5}, {false, 9.0}, {false, std::nullopt}};
  CHECK(fast_p(operators, 0) == 3.0 / 5);  // = the share of right ones
  CHECK(fast_p(operators, 0.5) == 2.0 / 5);
  CHECK(fast_p(operators, 1.0) == 1.0 / 5);  // exceeds: 1.0 itself does not count
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
