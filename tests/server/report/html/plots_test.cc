#include "server/report/html/plots.h"

#include "tests/catch.h"

using namespace assay;
using namespace assay::report;

namespace {

std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("bars are as long as their values and have whiskers for intervals") {
  const std::string plot = bar_plot(
      "Pass@1",
      {{"half", 0.5, metrics::Interval{0.25, 0.75}, "50 %"}, {"none", 0, std::nullopt, "0 %"}}, {});
  CHECK(occurrences(plot, "class=\"bar\"") == 2);
  CHECK(occurrences(plot, "class=\"whisker\"") == 3);
  CHECK(occurrences(plot, "class=\"reference\"") == 0);
  // The plot is 360 units wide, and the bar is half as wide.
  CHECK(plot.find("width=\"180.0\" height=\"12.0\" class=\"bar\"") != std::string::npos);
  CHECK(plot.find("width=\"0.0\"") != std::string::npos);
  CHECK(plot.find("aria-label=\"Pass@1: half 50 %, none 0 %\"") != std::string::npos);
}

TEST_CASE("labels are escaped, and a value beyond the scale stays inside the plot") {
  const std::string plot = bar_plot("a<b & \"c\"", {{"<script>", 7, std::nullopt, "'"}}, {1, 0.5});
  CHECK(plot.find("<script>") == std::string::npos);
  CHECK(plot.find("a&lt;b &amp; &quot;c&quot;") != std::string::npos);
  CHECK(plot.find("width=\"360.0\" height=\"12.0\" class=\"bar\"") != std::string::npos);
  CHECK(occurrences(plot, "class=\"reference\"") == 1);
}

TEST_CASE("lines: steps, one point, several styles") {
  const std::vector<Point> points = {
      {0, 1, std::nullopt}, {1, 0.5, std::nullopt}, {2, 0, std::nullopt}};
  const std::string steps = line_plot("fast_p", {{"a", points}, {"b", points}}, {"p", true, false});
  // The curve goes right to the middle of the width, and then down to the middle of the height.
  CHECK(steps.find("H202.0V95.0") != std::string::npos);
  CHECK(steps.find("curve s1") != std::string::npos);
  const std::string straight = line_plot("pass@k", {{"a", points}}, {"k"});
  CHECK(straight.find("L202.0 95.0") != std::string::npos);
  const std::string one = line_plot("one", {{"a", {{1, 0.5, metrics::Interval{0.2, 0.8}}}}}, {"k"});
  CHECK(one.find("nan") == std::string::npos);
  CHECK(occurrences(one, "class=\"whisker s0\"") == 3);
}

TEST_CASE("whiskers of lines that share an x stand side by side") {
  const Line line{"a",
                  {{1, 0.5, metrics::Interval{0.2, 0.8}}, {2, 0.5, metrics::Interval{0.2, 0.8}}}};
  const std::string plot = line_plot("pass@k", {line, line}, {"k", false, true});
  CHECK(plot.find("<line x1=\"63.5\"") != std::string::npos);
  CHECK(plot.find("<line x1=\"68.5\"") != std::string::npos);
}

TEST_CASE("high and low costs share a logarithmic axis") {
  const std::string near = cost_plot(
      "cost", "dollars", {{1, "a", 1, 0.5, std::nullopt}, {2, "b", 2, 0.5, std::nullopt}});
  CHECK(near.find("logarithmic") == std::string::npos);
  CHECK(near.find(">$2<") != std::string::npos);
  const std::string far = cost_plot(
      "cost", "dollars", {{1, "a", 0.01, 0.5, std::nullopt}, {2, "b", 10, 0.5, std::nullopt}});
  CHECK(far.find("dollars (logarithmic)") != std::string::npos);
  CHECK(far.find(">$0.01<") != std::string::npos);
  CHECK(far.find(">$10<") != std::string::npos);
}

TEST_CASE("points in one place share a label, and labels that would collide move") {
  const std::string same = cost_plot(
      "cost", "dollars", {{1, "a", 1, 0.25, std::nullopt}, {2, "b", 1, 0.25, std::nullopt}});
  CHECK(same.find("text-anchor=\"end\">1, 2</text>") != std::string::npos);
  const std::string above = cost_plot(
      "cost", "dollars", {{1, "a", 1, 0.20, std::nullopt}, {2, "b", 1, 0.28, std::nullopt}});
  CHECK(above.find("y=\"151.0\" text-anchor=\"end\">1</text>") != std::string::npos);
  // Beside its own point, label 2 would have the y coordinate 137.4. That is only 13.6 units above
  // label 1, so label 2 has moved up.
  CHECK(above.find("y=\"121.4\" text-anchor=\"end\">2</text>") != std::string::npos);
}
