// The pieces of the plots on a page, as inline SVG. A plot is kPlotWidth units wide on any screen,
// so that text of 13 units is readable on a phone of 360 pixels and on paper. The style sheet of
// the page has the colours. Every text is escaped. Pure functions.
//
//   FieldAxis axis{0, 5};
//   svg_figure("fast_p", "0: 100 %, 5: 50 %", kLegendTop,
//              field_grid({{axis.place(0), "0"}, {axis.place(5), "5"}}, "p") +
//                  svg_stroke(axis.place(0), field_y(1), axis.place(5), field_y(0.5), "curve"));
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/bootstrap.h"

namespace assay::report {

inline constexpr double kPlotWidth = 360;
inline constexpr double kTextUnits = 13;  // of every text in a plot; the style sheet says the same

/// "%.1f"
std::string svg_at(double value);
/// `anchor`: start, middle or end.
std::string svg_text(double x, double y, const char* anchor, std::string_view words);
std::string svg_stroke(double x1, double y1, double x2, double y2, std::string_view style);

/// The heading and the drawing. `in_words`: what the plot shows, for who cannot see it.
std::string svg_figure(std::string_view heading, std::string_view in_words, double height,
                       std::string_view drawing);

/// `figure` with a sentence below it; unchanged where there is nothing to say.
std::string annotated(const std::string& figure, std::string_view remark);

/// In place of a plot: why there is none.
std::string empty_figure(std::string_view heading, std::string_view reason);

/// One printable line that is at most `units` wide in the widest of the usual fonts, with an
/// ellipsis where it is cut.
std::string fitted(std::string_view text, double units);

/// At most `most` round numbers from `low` to `high`, in steps of 1, 2 or 5 times a power of ten;
/// `whole`: no fractions. `low` itself where they are equal.
std::vector<double> round_ticks(double low, double high, int most, bool whole);

inline constexpr double kFieldTop = 10, kFieldLeft = 54, kFieldRight = 350, kFieldHeight = 170;
inline constexpr double kFieldInset = 12;  // from the field's sides to the least and the greatest x
inline constexpr double kLegendTop = kFieldTop + kFieldHeight + 62,
                        kLegendStep = 19;  // baselines of what stands below field and axis

/// Where a share is; what is beyond 0 and 1 stays at the edge.
double field_y(double share);

/// Maps x to the field's width; the middle where `low` and `high` are equal.
struct FieldAxis {
  double low, high;
  double place(double x) const;
};

/// `ticks`: where they are, and their words.
std::string field_grid(const std::vector<std::pair<double, std::string>>& ticks,
                       const std::string& x_label);

/// An interval of shares, upright at `x`.
std::string field_whisker(double x, const metrics::Interval& interval, const std::string& style);

}  // namespace assay::report
