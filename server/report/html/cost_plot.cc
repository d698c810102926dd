#include <algorithm>
#include <cmath>

#include "server/report/html/field.h"
#include "server/report/html/plots.h"
#include "server/report/html/svg.h"
#include "server/report/model/format.h"

namespace assay::server {
namespace {

constexpr double kLogRatio = 30;     // of the dearest to the cheapest
constexpr double kNear = 12;         // points closer than this share a label
constexpr double kBeside = 10;       // from a point to its label
constexpr double kBaseline = 5;      // of a label, below the middle of its point
constexpr double kDigitUnits = 8.5;  // of the widest digit
constexpr double kLabelStep = 16;    // how far a label gives way to another one
constexpr int kMostDollarTicks = 5;  // their words are long

/// Places of the dollars' axis.
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

/// The numbers of points that are in one place, and where they are written.
struct Label {
  double x, y;  // of the first point
  std::string text;
  double left = 0, baseline = 0;
  double width() const { return kDigitUnits * static_cast<double>(text.size()); }
};

std::vector<Label> gathered(const std::vector<Spender>& spenders, const DollarAxis& axis) {
  std::vector<Label> labels;
  for (const Spender& spender : spenders) {
    const double x = axis.place(spender.dollars);
    const double y = field_y(spender.share);
    const auto near = std::find_if(labels.begin(), labels.end(), [x, y](const Label& label) {
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

bool collide(const Label& one, const Label& other) {
  return one.left < other.left + other.width() && other.left < one.left + one.width() &&
         std::abs(one.baseline - other.baseline) < kLabelStep;
}

/// Beside its point, on the side with more room; where another label is there already, nearer to
/// the middle of the field.
void place_labels(std::vector<Label>& labels) {
  constexpr double kMiddle = (kFieldLeft + kFieldRight) / 2;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    Label& label = labels[i];
    label.text = fitted(label.text, kMiddle - kFieldLeft);
    label.left = label.x < kMiddle ? label.x + kBeside : label.x - kBeside - label.width();
    label.baseline = label.y + kBaseline;
    const double step = label.y > field_y(0.5) ? -kLabelStep : kLabelStep;
    const auto taken = [&label](const Label& other) { return collide(label, other); };
    const auto placed = labels.begin() + static_cast<std::ptrdiff_t>(i);
    while (std::any_of(labels.begin(), placed, taken)) label.baseline += step;
  }
}

}  // namespace

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
  std::vector<Label> labels = gathered(spenders, axis);
  place_labels(labels);
  for (const Label& label : labels) {
    const bool right = label.left > label.x;
    out += svg_text(right ? label.left : label.left + label.width(), label.baseline,
                    right ? "start" : "end", label.text);
  }
  return svg_figure(heading, words, y - kLegendStep + 8,
                    out + "<g class=\"legend\">\n" + legend + "</g>\n");
}

}  // namespace assay::server
