// Plots as inline SVG: drawn 400 units wide so that their text is readable on a phone, coloured by the page's style sheet, every label escaped, no
// script and nothing from outside. Pure functions.
//
//   bar_plot("Pass@1", {{"standard", 0.5, Interval{0.3, 0.7}, "50 %"}}, 1.0)
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "metrics/bootstrap.h"

namespace assay::server {

struct Bar {
  std::string label;
  double value = 0;
  std::optional<metrics::Interval> interval;
  std::string note;  // what is written behind it
};

/// Horizontal bars from 0 to `most`, which must be above 0.
std::string bar_plot(const std::string& title, const std::vector<Bar>& bars, double most);

struct Point {
  double x = 0, y = 0;  // y from 0 to 1
  std::optional<metrics::Interval> interval;
};

struct Line {
  std::string name;
  std::vector<Point> points;
};

/// Shares over `x_label`; at most four lines differ in style. `steps`: the value holds until the next point.
std::string line_plot(const std::string& title, const std::string& x_label, const std::vector<Line>& lines, bool steps = false);

}  // namespace assay::server
