#include "server/report/html/markup.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::server;

TEST_CASE("escaping, for text and attributes") {
  CHECK(escaped("<a href=\"x\" title='y'>&") ==
        "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;");
  CHECK(escaped(std::string("a\x1b\0b\nc", 6)) == "a  b c");
  CHECK(escaped("caf\xc3\xa9") == "caf\xc3\xa9");
}

TEST_CASE("numbers and their intervals") {
  CHECK(number(std::nullopt, "%.1f") == "–");
  CHECK(number(1.25, "%.1f") == "1.2");
  CHECK(share_with_interval(std::nullopt) == "–");
  CHECK(share_with_interval(metrics::Estimate{
            0.5, 4, {0.25, 0.75}, metrics::IntervalMethod::bootstrap}) == "50.0 % (25 to 75)");
  CHECK(ratio_with_interval(metrics::Estimate{0.5, 1, {}, metrics::IntervalMethod::none}) ==
        "0.500");
}

TEST_CASE("counts and dollars") {
  CHECK(grouped(7) == "7");
  CHECK(grouped(1234567) == "1,234,567");
  CHECK(grouped(-123456) == "-123,456");
  CHECK(dollars(0.0821) == "$0.0821");
  CHECK(dollars(12.345) == "$12.35");
}
