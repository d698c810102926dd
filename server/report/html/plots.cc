#include "server/report/html/plots.h"

#include <algorithm>
#include <cmath>

#include "server/report/html/svg.h"
#include "server/report/model/format.h"

namespace assay::report {
namespace {

// The text of a bar is above the bar, so that a long label fits on a phone.
constexpr double kBarStep = 42, kBarText = 13, kBarTop = 19, kBarHeight = 12;
constexpr double kNoteRoom = 12;  // the minimum distance between a label and its note
constexpr double kLegendText = 40;
// In a plot whose x axis shows counts, several lines have points at the same x. The whiskers (error
// bars) of each line are shifted by this distance from those of the next line, so that no whisker
// hides another.
constexpr double kWhiskerGap = 5;
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

// The axis of costs is logarithmic if the largest cost is at least this multiple of the smallest
// cost.
constexpr double kLogRatio = 30;
constexpr double kNear = 12;     // points that are closer together have one label
constexpr double kBeside = 10;   // the distance between a label and its point
constexpr double kBaseline = 5;  // the distance of a label's baseline below the centre of its point
constexpr double kDigitUnits = 8.5;  // width of the widest digit
constexpr double kLabelStep = 16;    // a label moves by this distance to avoid another label
constexpr int kMostDollarTicks = 5;  // a low number, because the labels of dollars are long

/// Maps dollars to coordinates on the axis.
struct DollarAxis {
  FieldAxis axis;
  bool logarithmic;
  double place(double dollars) const {
    return axis.place(logarithmic ? std::log10(dollars) : dollars);
  }
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
  std::vector<std::pair<double, std::string>> ticks;
  for (const double tick :
       round_ticks(axis.axis.low, axis.axis.high, kMostDollarTicks, axis.logarithmic))
    ticks.emplace_back(axis.axis.place(tick),
                       number(axis.logarithmic ? std::pow(10, tick) : tick, "$%g"));
  return ticks;
}

/// The label of one point, or of several points that are close together. It shows the numbers of
/// these points.
struct PointLabel {
  double x, y;  // the coordinates of the first point
  std::string text;
  double left = 0, baseline = 0;
  double width() const { return kDigitUnits * static_cast<double>(text.size()); }
};

std::vector<PointLabel> gathered(const std::vector<Spender>& spenders, const DollarAxis& axis) {
  std::vector<PointLabel> labels;
  for (const Spender& spender : spenders) {
    const double x = axis.place(spender.dollars);
    const double y = field_y(spender.share);
    const auto near = std::find_if(labels.begin(), labels.end(), [x, y](const PointLabel& label) {
      return std::abs(label.x - x) < kNear && std::abs(label.y - y) < kNear;
    });
    if (near == labels.end()) {
      labels.push_back({x, y, std::to_string(spender.number)});
    } else {
      near->text += ", " + std::to_string(spender.number);
    }
  }
  return labels;
}

bool collide(const PointLabel& one, const PointLabel& other) {
  return one.left < other.left + other.width() && other.left < one.left + one.width() &&
         std::abs(one.baseline - other.baseline) < kLabelStep;
}

/// Places each label to the left or right of its point, on the side with more space. If a label
/// would cover an earlier label, it moves up or down towards the middle of the field.
void place_labels(std::vector<PointLabel>& labels) {
  constexpr double kMiddle = (kFieldLeft + kFieldRight) / 2;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    PointLabel& label = labels[i];
    label.text = fitted(label.text, kMiddle - kFieldLeft);
    label.left = label.x < kMiddle ? label.x + kBeside : label.x - kBeside - label.width();
    label.baseline = label.y + kBaseline;
    const double step = label.y > field_y(0.5) ? -kLabelStep : kLabelStep;
    const auto taken = [&label](const PointLabel& other) { return collide(label, other); };
    const auto placed = labels.begin() + static_cast<std::ptrdiff_t>(i);
    while (std::any_of(labels.begin(), placed, taken)) label.baseline += step;
  }
}

std::optional<metrics::Interval> interval_of(const metrics::Estimate& estimate) {
  return estimate.method == metrics::IntervalMethod::none ? std::nullopt
                                                          : std::optional(estimate.interval);
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

std::string cost_plot(const std::string& heading, const std::string& x_label,
                      const std::vector<Spender>& spenders) {
  const DollarAxis axis = dollar_axis(spenders);
  std::string out =
      field_grid(dollar_ticks(axis), x_label + (axis.logarithmic ? " (logarithmic)" : ""));
  std::string legend;
  std::string words;
  double y = kLegendTop;
  for (const Spender& spender : spenders) {
    const double x = axis.place(spender.dollars);
    if (spender.interval) out += field_whisker(x, *spender.interval, "whisker");
    out += "<circle cx=\"" + svg_at(x) + "\" cy=\"" + svg_at(field_y(spender.share)) +
           "\" r=\"4\" class=\"dot filled\"/>\n";
    legend += svg_text(0, y, "start",
                       fitted(std::to_string(spender.number) + ": " + dollars(spender.dollars) +
                                  ", " + spender.name,
                              kPlotWidth));
    words += (words.empty() ? "" : "; ") + spender.name + " " + dollars(spender.dollars) +
             number(100 * spender.share, " %.1f %%");
    y += kLegendStep;
  }
  std::vector<PointLabel> labels = gathered(spenders, axis);
  place_labels(labels);
  for (const PointLabel& label : labels) {
    const bool right = label.left > label.x;
    out += svg_text(right ? label.left : label.left + label.width(), label.baseline,
                    right ? "start" : "end", label.text);
  }
  return svg_figure(heading, words, y - kLegendStep + 8,
                    out + "<g class=\"legend\">\n" + legend + "</g>\n");
}

std::string configuration_of(const Report& report, std::size_t characters) {
  return printable_line(report.run.request.agent, characters) + ", " +
         printable_line(report.run.request.model, characters);
}

Bar share_bar(const std::string& label, const metrics::Estimate& estimate) {
  return {label, estimate.value, interval_of(estimate), number(100 * estimate.value, "%.1f %%")};
}

Bar ratio_bar(const std::string& label, const metrics::Estimate& estimate) {
  return {label, estimate.value, interval_of(estimate), number(estimate.value, "%.3f")};
}

std::string perf_plot(Baseline baseline, const std::vector<Bar>& bars) {
  const std::string title(title_of(baseline));
  constexpr double kHeadroom = 1.05;  // space above 1, so that the dashed line is inside the plot
  double most = 1;
  for (const Bar& bar : bars)
    most = std::max({most, bar.value, bar.interval ? bar.interval->high : 0});
  return bar_plot("Perf@1: " + title + " latency / submission latency (dashed: as fast as " +
                      (baseline == Baseline::oracle ? "the " : "") + title + ")",
                  bars, {most * kHeadroom, 1.0});
}

Line fast_line(const std::string& name, const std::vector<metrics::FastPoint>& curve) {
  Line line{name, {}};
  for (const metrics::FastPoint& point : curve)
    line.points.push_back({point.p, point.share, std::nullopt});
  return line;
}

std::string interval_in_words(const std::optional<metrics::Estimate>& estimate, double scale,
                              const char* format, const char* unit) {
  if (!estimate || estimate->method == metrics::IntervalMethod::none) return "";
  return "95 %: " + number(scale * estimate->interval.low, format) + " to " +
         number(scale * estimate->interval.high, format) + unit;
}

std::string group_name(const std::string& group) {
  return group.empty() || group == "0" ? "unknown" : group;
}

}  // namespace assay::report
