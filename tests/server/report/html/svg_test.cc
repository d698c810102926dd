#include "server/report/html/svg.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::report;

TEST_CASE("text of any script is cut to its room") {
  CHECK(fitted("vector_add", 360) == "vector_add");
  CHECK(fitted("aaaaaaaaaa", 60) == "aaaaa…");
  CHECK(fitted("WWWWWWWWWW", 60) == "WWW…");
  CHECK(fitted("\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 40) == "\xe6\xbc\xa2…");
  CHECK(fitted("a\nb", 360) == "a b");
  CHECK(fitted("", 10).empty());
}

TEST_CASE("round ticks") {
  CHECK(round_ticks(0, 5, 8, false) == std::vector<double>{0, 1, 2, 3, 4, 5});
  CHECK(round_ticks(1, 2, 8, true) == std::vector<double>{1, 2});
  CHECK(round_ticks(1, 100, 8, true) == std::vector<double>{20, 40, 60, 80, 100});
  CHECK(round_ticks(0, 0.123, 5, false).size() == 3);  // 0, 0.05, 0.1
  CHECK(round_ticks(3, 3, 8, true) == std::vector<double>{3});
}

TEST_CASE("a figure describes its plot in words, and its texts are escaped") {
  const std::string figure = svg_figure("<b>", "\"50 %\"", 40, svg_text(0, 10, "start", "<i>"));
  CHECK(figure.find("aria-label=\"&lt;b&gt;: &quot;50 %&quot;\"") != std::string::npos);
  CHECK(figure.find("<i>") == std::string::npos);
  CHECK(empty_figure("Perf@1", "no <GPU>").find("no &lt;GPU&gt;") != std::string::npos);
}

TEST_CASE("a remark goes into its figure") {
  CHECK(annotated("<figure></figure>\n", "a < b") ==
        "<figure><p class=\"under\">a &lt; b</p></figure>\n");
  CHECK(annotated("<figure></figure>\n", "") == "<figure></figure>\n");
}

TEST_CASE("shares and x stay inside the field") {
  CHECK(field_y(1) == Approx(kFieldTop));
  CHECK(field_y(0) == Approx(kFieldTop + kFieldHeight));
  CHECK(field_y(1.5) == Approx(kFieldTop));
  const FieldAxis axis{1, 3};
  CHECK(axis.place(1) == Approx(kFieldLeft + kFieldInset));
  CHECK(axis.place(3) == Approx(kFieldRight - kFieldInset));
  CHECK(FieldAxis{2, 2}.place(2) == Approx((kFieldLeft + kFieldRight) / 2));
}

TEST_CASE("a grid has five shares and its own ticks, escaped") {
  const std::string grid = field_grid({{100, "<k>"}}, "a & b");
  CHECK(grid.find(">75 %<") != std::string::npos);
  CHECK(grid.find("&lt;k&gt;") != std::string::npos);
  CHECK(grid.find("a &amp; b") != std::string::npos);
}
