#include "server/report/html/field.h"

#include <algorithm>

#include "server/report/html/svg.h"
#include "server/report/model/format.h"

namespace assay::server {

double field_y(double share) {
  return kFieldTop + kFieldHeight * (1 - std::clamp(share, 0.0, 1.0));
}

double FieldAxis::place(double x) const {
  return kFieldLeft + kFieldInset +
         (high > low ? (x - low) / (high - low) : 0.5) *
             (kFieldRight - kFieldLeft - 2 * kFieldInset);
}

std::string field_grid(const std::vector<std::pair<double, std::string>>& ticks,
                       const std::string& x_label) {
  constexpr double kLine = 18;  // from one baseline below the field to the next
  constexpr double kBottom = kFieldTop + kFieldHeight;
  std::string out;
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    out += svg_stroke(kFieldLeft, field_y(share), kFieldRight, field_y(share), "grid");
    out += svg_text(kFieldLeft - 6, field_y(share) + 4, "end", number(100 * share, "%.0f %%"));
  }
  for (const auto& [x, words] : ticks) {
    out += svg_stroke(x, kBottom, x, kBottom + 4, "tick");
    out += svg_text(x, kBottom + kLine, "middle", words);
  }
  return out + svg_text((kFieldLeft + kFieldRight) / 2, kBottom + 2 * kLine, "middle", x_label);
}

std::string field_whisker(double x, const metrics::Interval& interval, const std::string& style) {
  const double low = field_y(interval.low);
  const double high = field_y(interval.high);
  return svg_stroke(x, low, x, high, style) + svg_stroke(x - 3, low, x + 3, low, style) +
         svg_stroke(x - 3, high, x + 3, high, style);
}

}  // namespace assay::server
