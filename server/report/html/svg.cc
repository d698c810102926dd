#include "server/report/html/svg.h"

#include <algorithm>
#include <cmath>

#include "server/report/html/page.h"
#include "server/report/model/format.h"

namespace assay::report {
namespace {

// A text is cut to this number of characters before its width is measured, so that a very long text
// costs little time.
constexpr std::size_t kMostCharacters = 200;

/// Returns the width of a character as a fraction of the font size. The widths are those of the
/// font DejaVu Sans, which is wider than the fonts of phones and desktops.
double advance(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  if (lead >= 0xE1) return 1.05;  // U+1000 and above: full-width scripts, symbols
  if (lead >= 0x80) return 0.8;
  if (std::string_view("WMmw@%").find(character.front()) != std::string_view::npos) return 1.0;
  if (std::string_view("ijlI.,:;'|! ()[]tfr-").find(character.front()) != std::string_view::npos)
    return 0.42;
  return character.front() >= 'A' && character.front() <= 'Z' ? 0.76 : 0.64;
}

}  // namespace

std::string svg_at(double value) { return number(value, "%.1f"); }

std::string svg_text(double x, double y, const char* anchor, std::string_view words) {
  return "<text x=\"" + svg_at(x) + "\" y=\"" + svg_at(y) + "\" text-anchor=\"" + anchor + "\">" +
         escaped(words) + "</text>\n";
}

std::string svg_stroke(double x1, double y1, double x2, double y2, std::string_view style) {
  return "<line x1=\"" + svg_at(x1) + "\" y1=\"" + svg_at(y1) + "\" x2=\"" + svg_at(x2) +
         "\" y2=\"" + svg_at(y2) + "\" class=\"" + std::string(style) + "\"/>\n";
}

std::string svg_figure(std::string_view heading, std::string_view in_words, double height,
                       std::string_view drawing) {
  return "<figure><figcaption>" + escaped(heading) + "</figcaption>\n<svg viewBox=\"0 0 " +
         svg_at(kPlotWidth) + " " + svg_at(height) + "\" role=\"img\" aria-label=\"" +
         escaped(heading) + ": " + escaped(in_words) +
         "\" xmlns=\"http://www.w3.org/2000/svg\">\n" + std::string(drawing) + "</svg></figure>\n";
}

std::string annotated(const std::string& figure, std::string_view remark) {
  const std::size_t end = figure.rfind("</figure>");
  if (remark.empty() || end == std::string::npos) return figure;
  return figure.substr(0, end) + "<p class=\"under\">" + escaped(remark) + "</p>" +
         figure.substr(end);
}

std::string empty_figure(std::string_view heading, std::string_view reason) {
  return "<figure><figcaption>" + escaped(heading) + "</figcaption><p class=\"empty\">" +
         escaped(reason) + "</p></figure>\n";
}

std::string fitted(std::string_view text, double units) {
  std::string line = printable_line(text, kMostCharacters);
  const double room = units / kTextUnits;
  double width = 0;
  std::size_t kept = 0;  // the number of bytes that leave space for an ellipsis
  for (std::size_t at = 0; at < line.size();) {
    std::size_t next = at + 1;
    while (next < line.size() && (static_cast<unsigned char>(line[next]) & 0xC0U) == 0x80U) ++next;
    width += advance(std::string_view(line).substr(at, next - at));
    if (width > room) return line.substr(0, kept) + "…";
    if (width + 1 <= room) kept = next;
    at = next;
  }
  return line;
}

std::vector<double> round_ticks(double low, double high, int most, bool whole) {
  if (!(high > low)) return {low};
  double step = std::pow(10, std::floor(std::log10((high - low) / most)));
  if (whole) step = std::max(step, 1.0);
  const auto ticks = [low, high](double by) {
    return std::floor(high / by + 1e-9) - std::ceil(low / by - 1e-9) + 1;
  };
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (ticks(step * factor) > most) continue;
    step *= factor;
    break;
  }
  std::vector<double> found;
  const double first = std::ceil(low / step - 1e-9);
  for (int i = 0; i < most && (first + i) * step <= high + 1e-9 * step; ++i)
    found.push_back((first + i) * step);
  return found;
}

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
  constexpr double kLine = 18;  // the distance between baselines below the field
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

}  // namespace assay::report
