#include "server/report/html/figures.h"

#include <algorithm>

#include "server/report/model/format.h"

namespace assay::server {
namespace {

std::optional<metrics::Interval> interval_of(const metrics::Estimate& estimate) {
  return estimate.method == metrics::IntervalMethod::none ? std::nullopt
                                                          : std::optional(estimate.interval);
}

}  // namespace

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

std::string perf_plot(const std::string& heading, const std::vector<Bar>& bars) {
  constexpr double kHeadroom = 1.05;  // so that the line at 1 is inside
  double most = 1;
  for (const Bar& bar : bars)
    most = std::max({most, bar.value, bar.interval ? bar.interval->high : 0});
  return bar_plot(heading, bars, {most * kHeadroom, 1.0});
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

}  // namespace assay::server
