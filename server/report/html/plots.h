// The plots of a page (report_svg.h says how they are drawn). Pure functions.
//
//   bar_plot("Pass@1", {{"standard", 0.5, Interval{0.3, 0.7}, "50.0 %"}}, {.most = 1})
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
  std::string note;  // the value, in words
};

struct BarScale {
  double most = 1;                  // where bars end; above 0
  std::optional<double> reference;  // a dashed line there
};

/// Horizontal bars from 0. A label that is too long is cut.
std::string bar_plot(const std::string& heading, const std::vector<Bar>& bars,
                     const BarScale& scale);

struct Point {
  double x = 0, y = 0;  // y from 0 to 1
  std::optional<metrics::Interval> interval;
};

struct Line {
  std::string name;
  std::vector<Point> points;
};

inline constexpr std::size_t kLineStyles =
    8;  // lines that differ in colour or dashes; more repeat them

struct LineAxis {
  std::string label;
  bool steps = false;  // a value holds until the next point
  bool whole = false;  // x counts something
};

/// Shares over x, at least one point.
std::string line_plot(const std::string& heading, const std::vector<Line>& lines,
                      const LineAxis& axis);

/// One who paid `dollars` (above 0) for `share`; drawn with `number`.
struct Spender {
  std::size_t number = 1;
  std::string name;
  double dollars = 0, share = 0;
  std::optional<metrics::Interval> interval;
};

/// Shares over dollars, at least one; the axis is logarithmic where the dollars differ much. Points
/// in one place share a label (report_cost_plot.cc).
std::string cost_plot(const std::string& heading, const std::string& x_label,
                      const std::vector<Spender>& spenders);

}  // namespace assay::server
