#include "server/cli/report_plots.h"

#include <algorithm>
#include <cmath>

#include "server/cli/report_markup.h"
#include "server/cli/report_svg.h"

namespace assay::server {
namespace {

constexpr double kBarStep = 42, kBarText = 13, kBarTop = 19, kBarHeight = 12;  // a bar's words are above it: no label is too long for a phone
constexpr double kNoteRoom = 12;                                               // at least, between a label and its note
constexpr double kTop = 10, kLeft = 54, kRight = 350, kHeight = 170;           // of the field of the other plots
constexpr double kInset = 12;                                                  // from the field's sides to the first and last point
constexpr double kAxisText = 18, kLegendTop = 62, kLegendStep = 19, kLegendText = 40;
constexpr double kWhiskerGap = 5;  // between lines over counts, which share every x: none hides another
constexpr int kMostTicks = 8;
constexpr double kLogRatio = 30;  // of the dearest to the cheapest

double height_of(double share) { return kTop + kHeight * (1 - std::clamp(share, 0.0, 1.0)); }

std::string whisker(double low, double high, double y) {
  return svg_stroke(low, y, high, y, "whisker") + svg_stroke(low, y - 4, low, y + 4, "whisker") + svg_stroke(high, y - 4, high, y + 4, "whisker");
}

std::string upright_whisker(double x, const metrics::Interval& interval, const std::string& style) {
  const double low = height_of(interval.low);
  const double high = height_of(interval.high);
  return svg_stroke(x, low, x, high, style) + svg_stroke(x - 3, low, x + 3, low, style) + svg_stroke(x - 3, high, x + 3, high, style);
}

/// Maps x to the field's width.
struct Axis {
  double low, high;
  double place(double x) const { return kLeft + kInset + (high > low ? (x - low) / (high - low) : 0.5) * (kRight - kLeft - 2 * kInset); }
};

Axis axis_of(const std::vector<Line>& lines) {
  Axis axis{HUGE_VAL, -HUGE_VAL};
  for (const Line& line : lines) {
    for (const Point& point : line.points) axis = {std::min(axis.low, point.x), std::max(axis.high, point.x)};
  }
  return axis;
}

/// `ticks`: places and their words.
std::string grid(const std::vector<std::pair<double, std::string>>& ticks, const std::string& x_label) {
  std::string out;
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    out += svg_stroke(kLeft, height_of(share), kRight, height_of(share), "grid");
    out += svg_text(kLeft - 6, height_of(share) + 4, "end", number(100 * share, "%.0f %%"));
  }
  for (const auto& [x, words] : ticks) {
    out += svg_stroke(x, kTop + kHeight, x, kTop + kHeight + 4, "tick");
    out += svg_text(x, kTop + kHeight + kAxisText, "middle", words);
  }
  return out + svg_text((kLeft + kRight) / 2, kTop + kHeight + 2 * kAxisText, "middle", x_label);
}

std::string style_at(std::size_t line) { return "s" + std::to_string(line % kLineStyles); }

std::string drawn(const std::vector<Line>& lines, std::size_t index, const Axis& axis, const LineAxis& how) {
  const std::string style = style_at(index);
  const double gap = std::min(kWhiskerGap, 2 * kInset / static_cast<double>(lines.size()));
  const double shift = how.whole ? (static_cast<double>(index) - static_cast<double>(lines.size() - 1) / 2) * gap : 0;
  std::string path;
  std::string marks;
  for (const Point& point : lines[index].points) {
    const double x = axis.place(point.x) + shift;
    const double y = height_of(point.y);
    if (point.interval) marks += upright_whisker(x, *point.interval, "whisker " + style);
    marks += "<circle cx=\"" + svg_at(x) + "\" cy=\"" + svg_at(y) + "\" r=\"3\" class=\"dot " + style + "\"/>\n";
    if (path.empty()) {
      path = "M" + svg_at(x) + " " + svg_at(y);
    } else {
      path += how.steps ? "H" + svg_at(x) + "V" + svg_at(y) : "L" + svg_at(x) + " " + svg_at(y);
    }
  }
  return "<path d=\"" + path + "\" class=\"curve " + style + "\"/>\n" + marks;
}

std::string words_of(const Line& line) {
  std::string words = line.name;
  for (const Point& point : line.points) words += " " + number(point.x, "%g") + ": " + number(100 * point.y, "%.1f %%,");
  words.back() = ';';
  return words;
}

/// Places and words of the dollars' axis.
struct DollarAxis {
  Axis axis;
  bool logarithmic;
  double place(double dollars) const { return axis.place(logarithmic ? std::log10(dollars) : dollars); }
};

DollarAxis dollar_axis(const std::vector<Spender>& spenders) {
  double least = HUGE_VAL;
  double most = 0;
  for (const Spender& spender : spenders) {
    least = std::min(least, spender.dollars);
    most = std::max(most, spender.dollars);
  }
  if (most / least < kLogRatio) return {{0, most}, false};
  return {{std::floor(std::log10(least)), std::ceil(std::log10(most))}, true};
}

std::vector<std::pair<double, std::string>> dollar_ticks(const DollarAxis& axis) {
  constexpr int kMostDollarTicks = 5;  // their words are long
  std::vector<std::pair<double, std::string>> ticks;
  for (const double tick : round_ticks(axis.axis.low, axis.axis.high, kMostDollarTicks, axis.logarithmic))
    ticks.emplace_back(axis.axis.place(tick), number(axis.logarithmic ? std::pow(10, tick) : tick, "$%g"));
  return ticks;
}

}  // namespace

std::string bar_plot(const std::string& heading, const std::vector<Bar>& bars, const BarScale& scale) {
  const auto place = [&scale](double value) { return std::clamp(value / scale.most, 0.0, 1.0) * kPlotWidth; };
  const auto rect = [](double y, double width, const char* style) {
    return "<rect x=\"0\" y=\"" + svg_at(y) + "\" width=\"" + svg_at(width) + "\" height=\"" + svg_at(kBarHeight) + "\" class=\"" + style + "\"/>\n";
  };
  std::string out;
  std::string words;
  double top = 0;
  for (const Bar& bar : bars) {
    const double note_width = kTextUnits * 0.66 * static_cast<double>(bar.note.size());
    out += svg_text(0, top + kBarText, "start", fitted(bar.label, kPlotWidth - kNoteRoom - note_width));
    out += svg_text(kPlotWidth, top + kBarText, "end", bar.note);
    out += rect(top + kBarTop, kPlotWidth, "track") + rect(top + kBarTop, place(bar.value), "bar");
    if (bar.interval) out += whisker(place(bar.interval->low), place(bar.interval->high), top + kBarTop + kBarHeight / 2);
    if (scale.reference) out += svg_stroke(place(*scale.reference), top + kBarTop - 2, place(*scale.reference), top + kBarTop + kBarHeight + 2, "reference");
    words += (words.empty() ? "" : ", ") + bar.label + " " + bar.note;
    top += kBarStep;
  }
  return svg_figure(heading, words, top, out);
}

std::string line_plot(const std::string& heading, const std::vector<Line>& lines, const LineAxis& x) {
  const Axis axis = axis_of(lines);
  std::vector<std::pair<double, std::string>> ticks;
  for (const double tick : round_ticks(axis.low, axis.high, kMostTicks, x.whole)) ticks.emplace_back(axis.place(tick), number(tick, "%g"));
  std::string out = grid(ticks, x.label);
  std::string legend;
  std::string words;
  double y = kTop + kHeight + kLegendTop;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out += drawn(lines, i, axis, x);
    legend += svg_stroke(0, y - 4, kLegendText - 8, y - 4, "curve " + style_at(i)) +
              svg_text(kLegendText, y, "start", fitted(lines[i].name, kPlotWidth - kLegendText));
    words += (words.empty() ? "" : " ") + words_of(lines[i]);
    y += kLegendStep;
  }
  return svg_figure(heading, words, y - kLegendStep + 8, out + "<g class=\"legend\">\n" + legend + "</g>\n");
}

std::string cost_plot(const std::string& heading, const std::string& x_label, const std::vector<Spender>& spenders) {
  constexpr double kRadius = 10;
  const DollarAxis axis = dollar_axis(spenders);
  std::string out = grid(dollar_ticks(axis), x_label + (axis.logarithmic ? " (logarithmic)" : ""));
  std::string legend;
  std::string words;
  double y = kTop + kHeight + kLegendTop;
  std::vector<std::pair<double, double>> taken;
  for (const Spender& spender : spenders) {
    const double x = axis.place(spender.dollars);
    const double at = height_of(spender.share);
    if (spender.interval) out += upright_whisker(x, *spender.interval, "whisker");
    out += "<circle cx=\"" + svg_at(x) + "\" cy=\"" + svg_at(at) + "\" r=\"4\" class=\"dot filled\"/>\n";
    // A number beside its point, nearer to the middle of the field where another one is there already.
    double label = at + 5;
    const double aside = (spender.share < 0.5 ? -1 : 1) * (kTextUnits + 3);
    const double beside = x + kRadius > kRight - kRadius ? x - kRadius : x + kRadius;
    const auto clashes = [&taken, beside, &label](const std::pair<double, double>& other) {
      return std::abs(other.first - beside) < 2 * kRadius && std::abs(other.second - label) < kTextUnits + 3;
    };
    while (std::any_of(taken.begin(), taken.end(), clashes)) label += aside;
    taken.emplace_back(beside, label);
    out += svg_text(beside, label, beside < x ? "end" : "start", std::to_string(spender.number));
    const std::string entry = std::to_string(spender.number) + ": " + number(spender.dollars, "$%.4f, ");
    legend += svg_text(0, y, "start", fitted(entry + spender.name, kPlotWidth));
    words += (words.empty() ? "" : "; ") + spender.name + number(spender.dollars, " $%.4f") + number(100 * spender.share, " %.1f %%");
    y += kLegendStep;
  }
  return svg_figure(heading, words, y - kLegendStep + 8, out + "<g class=\"legend\">\n" + legend + "</g>\n");
}

}  // namespace assay::server
