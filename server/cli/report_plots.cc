#include "server/cli/report_plots.h"

#include <algorithm>
#include <cmath>

#include "server/cli/report_label.h"
#include "server/cli/report_markup.h"

namespace assay::server {
namespace {

constexpr double kWidth = 400;
constexpr double kBarLeft = 120, kBarRight = 300, kBarHeight = 14, kBarStep = 26;  // labels to the left, notes to the right
constexpr double kTop = 30;
constexpr double kLineLeft = 46, kLineRight = 390, kLineHeight = 170, kLegendStep = 18;
constexpr std::size_t kLabelCharacters = 17;
constexpr std::size_t kStyles = 4;

std::string at(double value) { return number(value, "%.1f"); }

std::string text(double x, double y, const char* anchor, const std::string& words, const char* style = "") {
  return "<text x=\"" + at(x) + "\" y=\"" + at(y) + "\" text-anchor=\"" + anchor + "\"" + (*style == 0 ? "" : std::string(" class=\"") + style + "\"") + ">" +
         escaped(words) + "</text>\n";
}

std::string stroke(double x1, double y1, double x2, double y2, const std::string& style) {
  return "<line x1=\"" + at(x1) + "\" y1=\"" + at(y1) + "\" x2=\"" + at(x2) + "\" y2=\"" + at(y2) + "\" class=\"" + style + "\"/>\n";
}

std::string open(const std::string& title, double height) {
  return "<svg viewBox=\"0 0 " + at(kWidth) + " " + at(height) + "\" role=\"img\" aria-label=\"" + escaped(title) +
         "\" xmlns=\"http://www.w3.org/2000/svg\">\n" + text(0, 16, "start", title, "head");
}

std::string whisker(double low, double high, double y) {
  return stroke(low, y, high, y, "whisker") + stroke(low, y - 4, low, y + 4, "whisker") + stroke(high, y - 4, high, y + 4, "whisker");
}

/// Maps x to the plot's width.
struct Axis {
  double low, high;
  double place(double x) const { return kLineLeft + (high > low ? (x - low) / (high - low) : 0.5) * (kLineRight - kLineLeft); }
};

double height_of(double share) { return kTop + kLineHeight * (1 - std::clamp(share, 0.0, 1.0)); }

Axis axis_of(const std::vector<Line>& lines) {
  Axis axis{HUGE_VAL, -HUGE_VAL};
  for (const Line& line : lines) {
    for (const Point& point : line.points) axis = {std::min(axis.low, point.x), std::max(axis.high, point.x)};
  }
  return axis;
}

std::string grid(const Axis& axis, const std::string& x_label) {
  std::string out;
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    out += stroke(kLineLeft, height_of(share), kLineRight, height_of(share), "grid");
    out += text(kLineLeft - 6, height_of(share) + 4, "end", number(100 * share, "%.0f %%"));
  }
  const double below = kTop + kLineHeight + 18;
  out += text(kLineLeft, below, "start", number(axis.low, "%g"));
  out += text(kLineRight, below, "end", number(axis.high, "%g"));
  return out + text((kLineLeft + kLineRight) / 2, below, "middle", x_label);
}

std::string drawn(const Line& line, const Axis& axis, bool steps, const std::string& style) {
  std::string path;
  std::string marks;
  for (const Point& point : line.points) {
    const double x = axis.place(point.x);
    const double y = height_of(point.y);
    if (point.interval) marks += stroke(x, height_of(point.interval->low), x, height_of(point.interval->high), "whisker");
    marks += "<circle cx=\"" + at(x) + "\" cy=\"" + at(y) + "\" r=\"3\" class=\"dot " + style + "\"/>\n";
    if (path.empty()) {
      path = "M" + at(x) + " " + at(y);
    } else {
      path += steps ? "H" + at(x) + "V" + at(y) : "L" + at(x) + " " + at(y);
    }
  }
  return "<path d=\"" + path + "\" class=\"curve " + style + "\"/>\n" + marks;
}

}  // namespace

std::string bar_plot(const std::string& title, const std::vector<Bar>& bars, double most) {
  const auto place = [most](double value) { return kBarLeft + std::clamp(value / most, 0.0, 1.0) * (kBarRight - kBarLeft); };
  std::string out = open(title, kTop + kBarStep * static_cast<double>(bars.size()) + 6);
  double top = kTop;
  for (const Bar& bar : bars) {
    const double middle = top + kBarHeight / 2;
    out += text(kBarLeft - 8, middle + 4, "end", printable_line(bar.label, kLabelCharacters));
    out += "<rect x=\"" + at(kBarLeft) + "\" y=\"" + at(top) + "\" width=\"" + at(kBarRight - kBarLeft) + "\" height=\"" + at(kBarHeight) +
           "\" class=\"track\"/>\n";
    out += "<rect x=\"" + at(kBarLeft) + "\" y=\"" + at(top) + "\" width=\"" + at(place(bar.value) - kBarLeft) + "\" height=\"" + at(kBarHeight) +
           "\" class=\"bar\"/>\n";
    if (bar.interval) out += whisker(place(bar.interval->low), place(bar.interval->high), middle);
    out += text(kBarRight + 8, middle + 4, "start", bar.note);
    top += kBarStep;
  }
  return out + "</svg>\n";
}

std::string line_plot(const std::string& title, const std::string& x_label, const std::vector<Line>& lines, bool steps) {
  const Axis axis = axis_of(lines);
  const double legend = kTop + kLineHeight + 40;
  std::string out = open(title, legend + kLegendStep * static_cast<double>(lines.size()));
  out += grid(axis, x_label);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string style = "s" + std::to_string(i % kStyles);
    const double y = legend + kLegendStep * static_cast<double>(i);
    out += drawn(lines[i], axis, steps, style);
    out += stroke(kLineLeft, y - 4, kLineLeft + 24, y - 4, "curve " + style) + text(kLineLeft + 32, y, "start", lines[i].name);
  }
  return out + "</svg>\n";
}

}  // namespace assay::server
