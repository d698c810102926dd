// The pieces of the plots on a page, as inline SVG. A plot is kPlotWidth units wide on any screen.
// So text of 13 units is readable on a phone of 360 pixels and on paper. The style sheet of the
// page has the colours. Every text is escaped. Pure functions.
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
inline constexpr double kTextUnits = 13;  // font size; same as in the style sheet

/// Returns a coordinate with one decimal.
std::string svg_at(double value);
/// `anchor` is "start", "middle" or "end".
std::string svg_text(double x, double y, const char* anchor, std::string_view words);
std::string svg_stroke(double x1, double y1, double x2, double y2, std::string_view style);

/// Returns a figure with a heading. `in_words` describes the plot for a reader who cannot see it.
std::string svg_figure(std::string_view heading, std::string_view in_words, double height,
                       std::string_view drawing);

/// Returns `figure` with `remark` below it. An empty remark changes nothing.
std::string annotated(const std::string& figure, std::string_view remark);

/// Returns a figure that gives the reason why there is no plot.
std::string empty_figure(std::string_view heading, std::string_view reason);

/// Cuts text to one printable line of at most `units` in the widest common font, and marks the cut
/// with an ellipsis.
std::string fitted(std::string_view text, double units);

/// Returns at most `most` round numbers from `low` to `high`, in steps of 1, 2 or 5 times a power
/// of ten. They have no fractions if `whole` is set. Returns only `low` if both are equal.
std::vector<double> round_ticks(double low, double high, int most, bool whole);

inline constexpr double kFieldTop = 10, kFieldLeft = 54, kFieldRight = 350, kFieldHeight = 170;
inline constexpr double kFieldInset = 12;  // between the sides and the first or last x
/// The baseline of the first line of the legend, and the distance to the next.
inline constexpr double kLegendTop = kFieldTop + kFieldHeight + 62, kLegendStep = 19;

/// Returns the y of a share. Shares outside 0 to 1 are placed at the edge.
double field_y(double share);

/// Maps x to the width of the field, or to its middle if `low` and `high` are equal.
struct FieldAxis {
  double low, high;
  double place(double x) const;
};

/// Returns the grid of a plot of shares, from 0 to 100 %. `ticks` are x and label of the marks
/// below the grid.
std::string field_grid(const std::vector<std::pair<double, std::string>>& ticks,
                       const std::string& x_label);

/// Returns an interval of shares as a vertical line at `x`.
std::string field_whisker(double x, const metrics::Interval& interval, const std::string& style);

}  // namespace assay::report
