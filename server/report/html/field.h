// The field of a plot of shares: a grid from 0 to 100 % with a horizontal axis, in the units of
// report_svg.h. Pure functions.
//
//   FieldAxis axis{0, 5};
//   field_grid({{axis.place(0), "0"}, {axis.place(5), "5"}}, "p") + svg_stroke(axis.place(1),
//   field_y(0.5), axis.place(2), field_y(0.5), "curve")
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "metrics/bootstrap.h"

namespace assay::server {

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

}  // namespace assay::server
