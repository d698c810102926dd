// Writes the page of one report: key figures, plots and tables.
#include <algorithm>
#include <cstdint>
#include <ctime>

#include "base/text.h"
#include "server/report/html/page.h"
#include "server/report/html/plots.h"
#include "server/report/html/svg.h"
#include "server/report/model/format.h"

namespace assay::report {
namespace {

/// Returns the CSS class that gives a row with this label its colour.
const char* style_of(Label label) {
  switch (label) {
    case Label::pass: return "pass";
    case Label::slow: return "slow";
    case Label::needs_gpu:
    case Label::no_code:
    case Label::truncated:
    case Label::missing: return "none";
    default: return "fail";
  }
}

std::string or_nothing(const std::string& text) {
  return text.empty() || text == "none" ? kNoValue : text;
}

/// Adds a space after each comma, so that a browser can wrap the list.
std::string spaced(const std::string& list) {
  std::string out;
  for (const char character : list)
    out += character == ',' ? std::string(", ") : std::string(1, character);
  return out;
}

std::string date_of(std::int64_t unix_ms) {
  const auto seconds = static_cast<std::time_t>(unix_ms / 1'000);
  std::tm parts{};
  char text[32];
  if (gmtime_r(&seconds, &parts) == nullptr ||
      std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &parts) == 0)
    return kNoValue;
  return text;
}

std::string group_table(const Report& report) {
  TableHead head = {"groups",
                    "Groups",
                    {{"Group"},
                     {"Operators", true},
                     {"Pass@1", true},
                     {"Call accuracy", true},
                     {"Perf@1", true}}};
  for (const Metric& metric : report.metrics) {
    if (metric.averaged) head.columns.push_back({std::string(metric.title), true});
  }
  std::vector<TableRow> rows;
  const auto add = [&rows, &report](const std::string& kind, const Groups& groups) {
    for (const auto& [name, summary] : groups) {
      TableRow row{"",
                   {kind + group_name(name), std::to_string(summary.operators),
                    with_interval(summary.pass_at_1, Unit::share),
                    with_interval(summary.call_accuracy, Unit::share),
                    with_interval(summary.perf_at_1, Unit::ratio)}};
      for (const Metric& metric : report.metrics) {
        if (metric.averaged)
          row.cells.push_back(with_interval(mean_of(summary, metric), metric.unit));
      }
      rows.push_back(std::move(row));
    }
  };
  add("", {{"all", report.all}});
  if (report.files) add("", {{"files of the benchmark", *report.files}});
  add("split ", report.by_split);
  add("suite ", report.by_suite);
  add("difficulty ", report.by_difficulty);
  add("family ", report.by_family);
  return html_table(head, rows,
                    "In brackets: 95 % intervals over the operators of a group. GPU efficiency: "
                    "mean over the cases of an operator, and of the best one (TritonBench). A "
                    "dash, or no column: nothing was timed.");
}

/// Returns a table with the number of errors of each type in TritonBench's classification. Returns
/// "" if there was no error.
std::string error_table(const Report& report) {
  std::vector<TableRow> rows;
  for (const auto& [group, types] : report.totals.errors) {
    for (const auto& [type, count] : types)
      rows.push_back({"", {type, group, std::to_string(count)}});
  }
  if (rows.empty()) return "";
  return html_table({"errors", "Errors", {{"Type"}, {"Group"}, {"Attempts", true}}}, rows);
}

/// Returns a table with the number of failed attempts that ended at each stage. Returns "" if no
/// attempt failed.
std::string stage_table(const Report& report) {
  TableHead head{"stages", "Where attempts died", {{"Stage"}, {"Attempts", true}}};
  for (const metrics::GroupCount& group : report.stages.front().groups)
    head.columns.push_back({std::string(group.group), true});
  head.columns.push_back({"No error", true});
  std::vector<TableRow> rows;
  std::int64_t failures = 0;
  for (const StageCount& stage : report.stages) {
    TableRow row{"", {std::string(stage.stage), std::to_string(stage.attempts)}};
    for (const metrics::GroupCount& group : stage.groups)
      row.cells.push_back(std::to_string(group.total));
    row.cells.push_back(std::to_string(stage.without_error));
    rows.push_back(row);
    failures += stage.attempts;
  }
  return failures == 0 ? "" : html_table(head, rows, kStageRemark);
}

std::string operator_table(const Report& report) {
  TableHead head = {
      "operators", "Operators", {{"Operator"}, {"Outcome"}, {"Error kind"}}, Narrow::cards};
  std::vector<const Metric*> columns;
  for (const Metric& metric : report.metrics) {
    if (metric.table == OperatorTable::none) continue;
    columns.push_back(&metric);
    head.columns.push_back({std::string(metric.title), true});
  }
  head.columns.insert(head.columns.end(), {{"Tier"}, {"Explanation"}});
  std::vector<TableRow> rows;
  for (const ReportRow& row : report.rows) {
    const std::string sample = report.samples.size() > 1 ? " #" + std::to_string(row.sample) : "";
    TableRow line{style_of(row.label),
                  {row.operator_name + sample, std::string(to_string(row.label)),
                   or_nothing(row.error_kind)}};
    for (const Metric* metric : columns)
      line.cells.push_back(value_text(metric->of(row), metric->unit));
    line.cells.insert(line.cells.end(), {or_nothing(row.tier), row.explanation});
    rows.push_back(std::move(line));
  }
  return html_table(head, rows);
}

std::string totals_table(const Report& report) {
  const ReportTotals& totals = report.totals;
  std::vector<std::pair<std::string, std::string>> facts = {
      {"pass@1", number(100 * totals.pass_at_1, "%.1f %%") + " (" + std::to_string(totals.passed) +
                     " of " + std::to_string(totals.attempts) + ")"},
      {"perf@1", totals.perf_at_1
                     ? number(totals.perf_at_1, "%.3f") + over_text(report.all.baseline)
                     : "none (" + totals.no_perf_reason + ")"},
      {"call accuracy", number(100 * totals.call_accuracy, "%.1f %%")},
      {"execution accuracy", number(100 * totals.execution_accuracy, "%.1f %%")}};
  if (totals.generalisation)
    facts.emplace_back("generalisation (speed-up on hidden cases over that on public ones)",
                       number(totals.generalisation, "%.3f"));
  if (totals.similarity)
    facts.emplace_back("CodeBLEU", with_interval(totals.similarity, Unit::ratio));
  facts.emplace_back("tokens", grouped(report.usage.input_tokens) + " in, " +
                                   grouped(report.usage.output_tokens) + " out");
  facts.emplace_back("cost", cost_in_words(report.usage, report.scripted()));
  if (totals.cost_per_solved)
    facts.emplace_back("cost per solved operator", dollars(*totals.cost_per_solved));
  if (totals.cost_per_pass_rate)
    facts.emplace_back("cost / pass rate (TritonGym's $/Pass)",
                       dollars(*totals.cost_per_pass_rate));
  if (totals.cost_per_perf)
    facts.emplace_back("cost / perf@1 (TritonGym's $/Perf)", dollars(*totals.cost_per_perf));
  facts.emplace_back("tool calls", grouped(totals.tool_calls));
  facts.emplace_back("sandbox time",
                     number(totals.sandbox_ms / 1'000, "%.1f s") +
                         " (sum over the graded jobs, without their time in the queue)");
  return facts_table("totals", "Totals", facts);
}

/// Returns a table that says where the report comes from: agent, model, device and runs, with full
/// names.
std::string origin_table(const Report& report) {
  std::vector<std::pair<std::string, std::string>> facts = {
      {"agent", report.run.request.agent},
      {"model", report.run.request.model},
      {"track", std::string(tools::to_string(report.run.request.track))},
      {"operators", spaced(report.run.request.suite)},
      {report.suites.size() > 1 ? "suites" : "suite", join(report.suites, ", ", text_of)},
      {"device", report.devices.empty() ? "none: nothing was graded" : join(report.devices)},
      {"started", date_of(report.run.created_unix_ms)},
      {report.samples.size() > 1 ? "runs" : "run", join(report.samples)}};
  if (!report.missing_layers.empty())
    facts.emplace_back("sandbox layers that the machine lacked", join(report.missing_layers));
  return facts_table("origin", "Where this comes from", facts);
}

/// Returns a plot with a bar of Pass@1 for each group. If `all` is given, the plot also has a bar
/// for all operators. Returns "" if there are no values.
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
  if (!report.all.fast_torch_compile.empty())
    lines.push_back(fast_line("over torch.compile", report.all.fast_torch_compile));
  const std::string reason =
      "Not drawn: " +
      (report.totals.no_perf_reason.empty() ? "nothing was timed" : report.totals.no_perf_reason) +
      ".";
  if (bars.empty() && lines.empty()) return empty_figure("Perf@1 and fast_p", reason);
  return (bars.empty() ? empty_figure("Perf@1", reason)
                       : perf_plot(report.all.baseline.value_or(Baseline::oracle), bars)) +
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
       totals.perf_at_1
           ? interval_in_words(report.all.perf_at_1, 1, "%.2f", "") + over_text(report.all.baseline)
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
  if (report.suites.size() > 1) body += "<p class=\"note\">" + std::string(kSuitesNote) + "</p>\n";
  body += figures(report) + plots(report) + totals_table(report) + group_table(report) +
          error_table(report) + stage_table(report) + operator_table(report) + origin_table(report);
  return html_page("Assay: " + configuration_of(report), body);
}

}  // namespace assay::report
