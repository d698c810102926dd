#include "server/report/model/format.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::report;

TEST_CASE("numbers and their intervals") {
  CHECK(number(std::nullopt, "%.1f") == "–");
  CHECK(number(1.25, "%.1f") == "1.2");
  CHECK(with_interval(std::nullopt, Unit::share) == "–");
  CHECK(with_interval(metrics::Estimate{0.5, 4, {0.25, 0.75}, metrics::IntervalMethod::bootstrap},
                      Unit::share) == "50.0 % (25 to 75)");
  CHECK(with_interval(metrics::Estimate{0.5, 1, {}, metrics::IntervalMethod::none}, Unit::ratio) ==
        "0.500");
}

TEST_CASE("dollars") {
  CHECK(dollars(0.0821) == "$0.0821");
  CHECK(dollars(12.345) == "$12.35");
}
