// Draws the parts of a page's plots as inline SVG. All lengths and coordinates are in units of the
// SVG's viewBox. A plot is kPlotWidth (360) units wide, and the browser scales it to the page. Text
// with the size kTextUnits (13) is readable even on a phone whose screen is 360 pixels wide. The
// page's style sheet defines the colours. Every text is escaped. Pure functions.
//
//   const FieldAxis axis{0, 5};
//   std::string drawing =
//       field_grid({{axis.place(0), "0"}, {axis.place(5), "5"}}, "p") +
//       svg_stroke(axis.place(0), field_y(1), axis.place(5), field_y(0.5), "curve");
//   std::string figure = svg_figure("fast_p", "0: 100 %, 5: 50 %", kLegendTop, drawing);
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/estimate.h"

namespace assay::report {

inline constexpr double kPlotWidth = 360;
inline constexpr double kTextUnits = 13;  // the font size; the style sheet must have the same size

/// Returns a coordinate as text with one decimal.
std::string svg_at(double value);
/// Returns a text element. `anchor` is "start", "middle" or "end".
std::string svg_text(double x, double y, const char* anchor, std::string_view words);
std::string svg_stroke(double x1, double y1, double x2, double y2, std::string_view style);

/// Returns a figure with a heading. `in_words` describes the plot for a reader who cannot see it.
std::string svg_figure(std::string_view heading, std::string_view in_words, double height,
                       std::string_view drawing);

/// Returns `figure` with `remark` below it. An empty `remark` changes nothing.
std::string annotated(const std::string& figure, std::string_view remark);

/// Returns a figure that states why there is no plot.
std::string empty_figure(std::string_view heading, std::string_view reason);

/// Returns `text` as one printable line. The line is cut if it would be wider than `units` in the
/// widest common font. A cut line ends with an ellipsis.
std::string fitted(std::string_view text, double units);

/// Returns the positions of an axis's marks: at most `most` round numbers from `low` to `high`.
/// Their distance is 1, 2 or 5 times a power of ten. If `whole` is true, the numbers have no
/// fractions. If `low` and `high` are equal, returns only `low`.
std::vector<double> round_ticks(double low, double high, int most, bool whole);

inline constexpr double kFieldTop = 10, kFieldLeft = 54, kFieldRight = 350, kFieldHeight = 170;
inline constexpr double kFieldInset = 12;  // the distance between a side and the first or last x
/// kLegendTop is the y coordinate of the baseline of the legend's first line. kLegendStep is the
/// distance between two lines.
inline constexpr double kLegendTop = kFieldTop + kFieldHeight + 62, kLegendStep = 19;

/// Returns the y coordinate of a share. A share below 0 counts as 0, a share above 1 as 1.
double field_y(double share);

/// Maps values of x from [low, high] to coordinates in the plot's field. If `low` and `high` are
/// equal, maps x to the middle of the field.
struct FieldAxis {
  double low, high;
  double place(double x) const;
};

/// Returns the grid of a plot whose y axis shows shares from 0 to 100 %. Each entry of `ticks` is a
/// mark below the grid: its x coordinate and its label.
std::string field_grid(const std::vector<std::pair<double, std::string>>& ticks,
                       const std::string& x_label);

/// Returns an interval of shares as a vertical line at the coordinate `x`.
std::string field_whisker(double x, const metrics::Interval& interval, const std::string& style);

}  // namespace assay::report
