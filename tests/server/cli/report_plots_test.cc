#include "server/cli/report_plots.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::server;

namespace {

std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("bars: one each, as long as their value, whiskers where there is an interval") {
  const std::string plot = bar_plot("Pass@1", {{"half", 0.5, metrics::Interval{0.25, 0.75}, "50 %"}, {"none", 0, std::nullopt, "0 %"}}, 1);
  CHECK(occurrences(plot, "class=\"bar\"") == 2);
  CHECK(occurrences(plot, "class=\"whisker\"") == 3);
  CHECK(plot.find("width=\"90.0\" height=\"14.0\" class=\"bar\"") != std::string::npos);  // half of 180
  CHECK(plot.find("width=\"0.0\"") != std::string::npos);
}

TEST_CASE("labels are escaped, and what is beyond the scale stays inside") {
  const std::string plot = bar_plot("a<b & \"c\"", {{"<script>", 7, std::nullopt, "'"}}, 1);
  CHECK(plot.find("<script>") == std::string::npos);
  CHECK(plot.find("a&lt;b &amp; &quot;c&quot;") != std::string::npos);
  CHECK(plot.find("width=\"180.0\" height=\"14.0\" class=\"bar\"") != std::string::npos);
}

TEST_CASE("lines: steps, one point, several styles") {
  const std::vector<Point> points = {{0, 1, std::nullopt}, {1, 0.5, std::nullopt}, {2, 0, std::nullopt}};
  const std::string steps = line_plot("fast_p", "p", {{"a", points}, {"b", points}}, true);
  CHECK(steps.find("H218.0V115.0") != std::string::npos);  // the middle of the width, then the middle of the height
  CHECK(steps.find("curve s1") != std::string::npos);
  const std::string straight = line_plot("pass@k", "k", {{"a", points}});
  CHECK(straight.find("L218.0 115.0") != std::string::npos);
  const std::string one = line_plot("one", "k", {{"a", {{1, 0.5, metrics::Interval{0.2, 0.8}}}}});
  CHECK(one.find("nan") == std::string::npos);
  CHECK(occurrences(one, "class=\"whisker\"") == 1);
}
