#include <algorithm>

#include "base/text.h"
#include "server/report/html/page.h"
#include "server/report/html/pages.h"
#include "server/report/html/plots.h"
#include "server/report/html/svg.h"
#include "server/report/html/tables.h"
#include "server/report/model/format.h"

namespace assay::report {
namespace {

/// Pass@1 of each group, and of all operators if `all` is given; "" if nothing is known.
std::string pass_plot(const std::string& heading, const metrics::Summary* all, const Groups& groups,
                      const std::string& prefix) {
  std::vector<Bar> bars;
  if (all != nullptr && all->pass_at_1) bars.push_back(share_bar("all", *all->pass_at_1));
  for (const auto& [name, summary] : groups) {
    if (summary.pass_at_1) bars.push_back(share_bar(prefix + group_name(name), *summary.pass_at_1));
  }
  return bars.empty() ? "" : bar_plot(heading, bars, {});
}

std::string times_plots(const Report& report) {
  std::vector<Bar> bars;
  if (report.all.perf_at_1) bars.push_back(ratio_bar("all", *report.all.perf_at_1));
  for (const auto& [name, summary] : report.by_split) {
    if (summary.perf_at_1 && report.by_split.size() > 1)
      bars.push_back(ratio_bar(group_name(name), *summary.perf_at_1));
  }
  std::vector<Line> lines;
  if (!report.all.fast_oracle.empty())
    lines.push_back(fast_line("over the oracle", report.all.fast_oracle));
  if (!report.all.fast_pytorch.empty())
    lines.push_back(fast_line("over PyTorch", report.all.fast_pytorch));
  const std::string reason =
      "Not drawn: " +
      (report.totals.no_perf_reason.empty() ? "nothing was timed" : report.totals.no_perf_reason) +
      ".";
  if (bars.empty() && lines.empty()) return empty_figure("Perf@1 and fast_p", reason);
  return (bars.empty() ? empty_figure("Perf@1", reason) : perf_plot(kPerfHeading, bars)) +
         (lines.empty() ? empty_figure("fast_p", reason)
                        : line_plot(kFastHeading, lines, {"p", true, false}));
}

std::string pass_at_k_plot(const Report& report) {
  if (report.pass_at_k.size() < 2) return "";
  Line execution{"execution (right)", {}};
  Line call{"call (ran to its end)", {}};
  for (const metrics::PassPoint& point : report.pass_at_k) {
    const auto k = static_cast<double>(point.k);
    execution.points.push_back({k, point.execution.value, point.execution.interval});
    call.points.push_back({k, point.call.value, std::nullopt});
  }
  return line_plot("pass@k over " + std::to_string(report.samples.size()) + " samples",
                   {execution, call}, {"k", false, true});
}

std::string error_plot(const Report& report) {
  constexpr const char* kHeading = "Errors, by TritonBench's groups";
  std::vector<Bar> bars;
  std::int64_t most = 0;
  for (const metrics::GroupCount& group : report.error_groups) {
    bars.push_back({std::string(group.group), static_cast<double>(group.total), std::nullopt,
                    std::to_string(group.total)});
    most = std::max(most, group.total);
  }
  return most == 0 ? empty_figure(kHeading, "There was no error.")
                   : bar_plot(kHeading, bars, {static_cast<double>(most), std::nullopt});
}

std::string plots(const Report& report) {
  const Groups shown_splits = report.by_split.size() > 1 ? report.by_split : Groups{};
  return "<div class=\"plots\">\n" + pass_plot("Pass@1", &report.all, shown_splits, "") +
         times_plots(report) + pass_at_k_plot(report) + error_plot(report) +
         pass_plot("Pass@1 by difficulty", nullptr, report.by_difficulty, "difficulty ") +
         "</div>\n";
}

std::string figures(const Report& report) {
  const ReportTotals& totals = report.totals;
  std::vector<KeyFigure> key = {
      {"Pass@1", number(100 * totals.pass_at_1, "%.1f %%"),
       std::to_string(totals.passed) + " of " + std::to_string(totals.attempts) +
           " attempts right; " + interval_in_words(report.all.pass_at_1, 100, "%.0f", " %")},
      {"Perf@1", number(totals.perf_at_1, "%.3f"),
       totals.perf_at_1 ? interval_in_words(report.all.perf_at_1, 1, "%.2f", "")
                        : totals.no_perf_reason},
      {"Call accuracy", number(100 * totals.call_accuracy, "%.1f %%"),
       "ran to their end, right or wrong"},
      {"Cost", cost_in_words(report.usage, report.scripted()),
       totals.cost_per_solved ? dollars(*totals.cost_per_solved) + " per solved operator"
       : report.scripted()    ? "no model"
                              : ""}};
  return key_figures(key);
}

}  // namespace

std::string report_as_html(const Report& report) {
  std::string body =
      "<p>Track " + std::string(tools::to_string(report.run.request.track)) + ", " +
      std::to_string(report.totals.operators) +
      (report.totals.operators == 1 ? " operator" : " operators") +
      (report.samples.size() > 1 ? ", " + std::to_string(report.samples.size()) + " samples of each"
                                 : "") +
      (report.devices.empty() ? "" : ", device " + escaped(join(report.devices))) + ".</p>\n";
  if (report.scripted())
    body += "<p class=\"note\">" + std::string(note_of(report.answered_by)) + "</p>\n";
  body += figures(report) + plots(report) + totals_table(report) + group_table(report) +
          error_table(report) + stage_table(report) + operator_table(report) + origin_table(report);
  return html_page("Assay: " + configuration_of(report), body);
}

}  // namespace assay::report
