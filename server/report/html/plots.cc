#include "server/report/html/plots.h"

#include <algorithm>
#include <cmath>

#include "server/report/html/field.h"
#include "server/report/html/svg.h"
#include "server/report/model/format.h"

namespace assay::server {
namespace {

constexpr double kBarStep = 42, kBarText = 13, kBarTop = 19,
                 kBarHeight = 12;  // a bar's words are above it: no label is too long for a phone
constexpr double kNoteRoom = 12;   // at least, between a label and its note
constexpr double kLegendText = 40;
constexpr double kWhiskerGap =
    5;  // between lines over counts, which share every x: none hides another
constexpr int kMostTicks = 8;

std::string whisker(double low, double high, double y) {
  return svg_stroke(low, y, high, y, "whisker") + svg_stroke(low, y - 4, low, y + 4, "whisker") +
         svg_stroke(high, y - 4, high, y + 4, "whisker");
}

FieldAxis axis_of(const std::vector<Line>& lines) {
  FieldAxis axis{HUGE_VAL, -HUGE_VAL};
  for (const Line& line : lines) {
    for (const Point& point : line.points)
      axis = {std::min(axis.low, point.x), std::max(axis.high, point.x)};
  }
  return axis;
}

std::string style_at(std::size_t line) { return "s" + std::to_string(line % kLineStyles); }

std::string drawn(const std::vector<Line>& lines, std::size_t index, const FieldAxis& axis,
                  const LineAxis& how) {
  const std::string style = style_at(index);
  const double gap = std::min(kWhiskerGap, 2 * kFieldInset / static_cast<double>(lines.size()));
  const double shift =
      how.whole ? (static_cast<double>(index) - static_cast<double>(lines.size() - 1) / 2) * gap
                : 0;
  std::string path;
  std::string marks;
  for (const Point& point : lines[index].points) {
    const double x = axis.place(point.x) + shift;
    const double y = field_y(point.y);
    if (point.interval) marks += field_whisker(x, *point.interval, "whisker " + style);
    marks += "<circle cx=\"" + svg_at(x) + "\" cy=\"" + svg_at(y) + "\" r=\"3\" class=\"dot " +
             style + "\"/>\n";
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
  for (const Point& point : line.points)
    words += " " + number(point.x, "%g") + ": " + number(100 * point.y, "%.1f %%,");
  words.back() = ';';
  return words;
}

}  // namespace

std::string bar_plot(const std::string& heading, const std::vector<Bar>& bars,
                     const BarScale& scale) {
  const auto place = [&scale](double value) {
    return std::clamp(value / scale.most, 0.0, 1.0) * kPlotWidth;
  };
  const auto rect = [](double y, double width, const char* style) {
    return "<rect x=\"0\" y=\"" + svg_at(y) + "\" width=\"" + svg_at(width) + "\" height=\"" +
           svg_at(kBarHeight) + "\" class=\"" + style + "\"/>\n";
  };
  std::string out;
  std::string words;
  double top = 0;
  for (const Bar& bar : bars) {
    const double note_width = kTextUnits * 0.66 * static_cast<double>(bar.note.size());
    out += svg_text(0, top + kBarText, "start",
                    fitted(bar.label, kPlotWidth - kNoteRoom - note_width));
    out += svg_text(kPlotWidth, top + kBarText, "end", bar.note);
    out += rect(top + kBarTop, kPlotWidth, "track") + rect(top + kBarTop, place(bar.value), "bar");
    if (bar.interval)
      out += whisker(place(bar.interval->low), place(bar.interval->high),
                     top + kBarTop + kBarHeight / 2);
    if (scale.reference)
      out += svg_stroke(place(*scale.reference), top + kBarTop - 2, place(*scale.reference),
                        top + kBarTop + kBarHeight + 2, "reference");
    words += (words.empty() ? "" : ", ") + bar.label + " " + bar.note;
    top += kBarStep;
  }
  return svg_figure(heading, words, top, out);
}

std::string line_plot(const std::string& heading, const std::vector<Line>& lines,
                      const LineAxis& x) {
  const FieldAxis axis = axis_of(lines);
  std::vector<std::pair<double, std::string>> ticks;
  for (const double tick : round_ticks(axis.low, axis.high, kMostTicks, x.whole))
    ticks.emplace_back(axis.place(tick), number(tick, "%g"));
  std::string out = field_grid(ticks, x.label);
  std::string legend;
  std::string words;
  double y = kLegendTop;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out += drawn(lines, i, axis, x);
    legend += svg_stroke(0, y - 4, kLegendText - 8, y - 4, "curve " + style_at(i)) +
              svg_text(kLegendText, y, "start", fitted(lines[i].name, kPlotWidth - kLegendText));
    words += (words.empty() ? "" : " ") + words_of(lines[i]);
    y += kLegendStep;
  }
  return svg_figure(heading, words, y - kLegendStep + 8,
                    out + "<g class=\"legend\">\n" + legend + "</g>\n");
}

}  // namespace assay::server
