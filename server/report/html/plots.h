// Draws the plots of a page from the parts in svg.h. Also formats the texts that the pages of
// reports and of comparisons share. Pure functions.
//
//   const metrics::Interval interval{0.3, 0.7};
//   std::string plot =
//       bar_plot("Pass@1", {{"standard", 0.5, interval, "50.0 %"}}, {.most = 1, .reference = {}});
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "metrics/estimate.h"
#include "server/report/model/rows.h"

namespace assay::report {

struct Bar {
  std::string label;
  double value = 0;
  std::optional<metrics::Interval> interval;
  std::string note;  // the value as text
};

struct BarScale {
  double most = 1;                  // the value that fills the whole width; must be above 0
  std::optional<double> reference;  // the value at which a dashed line is drawn
};

/// Returns a plot of horizontal bars that start at 0. A label that is too long is shortened.
std::string bar_plot(const std::string& heading, const std::vector<Bar>& bars,
                     const BarScale& scale);

struct Point {
  double x = 0, y = 0;  // y is between 0 and 1
  std::optional<metrics::Interval> interval;
};

struct Line {
  std::string name;
  std::vector<Point> points;
};

/// The number of line styles (colours and dashes). Further lines use the same styles again.
inline constexpr std::size_t kLineStyles = 8;

struct LineAxis {
  std::string label;
  bool steps = false;  // true: the line has steps, because a value holds until the next point
  bool whole = false;  // true: x is a count, so the ticks are whole numbers
};

/// Returns a plot of lines. The y axis shows shares. There must be at least one point.
std::string line_plot(const std::string& heading, const std::vector<Line>& lines,
                      const LineAxis& axis);

/// A configuration (agent and model) that solved the share `share` of the operators at a cost of
/// `dollars`, which is above 0. Its point in the plot has the label `number`.
struct Spender {
  std::size_t number = 1;
  std::string name;
  double dollars = 0, share = 0;
  std::optional<metrics::Interval> interval;
};

/// Returns a plot with one point for each spender: the share on the y axis, the cost in dollars on
/// the x axis. There must be at least one spender. The cost axis is logarithmic if the costs differ
/// much. Points that are close together have one label.
std::string cost_plot(const std::string& heading, const std::string& x_label,
                      const std::vector<Spender>& spenders);

/// Returns "AGENT, MODEL". Each name is cut after `characters` characters.
std::string configuration_of(const Report& report, std::size_t characters = 60);

Bar share_bar(const std::string& label, const metrics::Estimate& estimate);
Bar ratio_bar(const std::string& label, const metrics::Estimate& estimate);

/// Returns a plot with a bar for each Perf@1 in `bars`, and a dashed line at 1, the speed of the
/// baseline. There must be at least one bar.
std::string perf_plot(Baseline baseline, const std::vector<Bar>& bars);

Line fast_line(const std::string& name, const std::vector<metrics::FastPoint>& curve);

/// Returns the confidence interval as text, such as "95 %: 28 to 72 %". Returns "" if there is no
/// interval.
std::string interval_in_words(const std::optional<metrics::Estimate>& estimate, double scale,
                              const char* format, const char* unit);

/// Returns the name of a group, or "unknown" for a group without a name.
std::string group_name(const std::string& group);

inline constexpr const char* kFastHeading = "fast_p: right, and more than p times as fast";

inline constexpr const char* kStageRemark =
    "The first tool that no version of an attempt passed, by TritonBench's group of its last "
    "error. "
    "No error: right in the tests, but never submitted.";

}  // namespace assay::report
