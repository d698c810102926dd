// The pieces that the plots of a page are made of: inline SVG in units of its own, drawn kPlotWidth
// wide whatever the screen, so that text of 13 units is readable on a phone of 360 pixels and on
// paper. Coloured by the page's style sheet, every text escaped. Pure functions.
//
//   figure("Pass@1", "all 50 %", kBarStep, bars)
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::server {

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

}  // namespace assay::server
