// Writes the page that compares several reports.
#include "server/report/model/compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "server/report/html/page.h"
#include "server/report/html/plots.h"
#include "server/report/html/svg.h"
#include "server/report/model/format.h"

namespace assay::report {
namespace {

// The maximum number of characters of an agent's or model's name in plots and tables. The page's
// section "Where this comes from" shows the full names.
constexpr std::size_t kNameCharacters = 32;
constexpr double kSmallestShare = 0.0005;  // a smaller share is shown as 0.0 %
constexpr std::size_t kMostColumns = 8;    // the maximum number of configurations in one table
// The maximum number of columns whose heads contain the configurations' names. In a table with more
// columns, the heads contain only the configurations' numbers, because names would not fit.
constexpr std::size_t kMostNamedColumns = 4;
constexpr std::size_t kColumnCharacters = 28;  // the maximum length of a name in a column's head

/// Returns the number and the name of a configuration, such as "2: geak, openai:gpt-5". Narrow
/// plots and tables show only the number.
std::string numbered(const Comparison& comparison, std::size_t index) {
  const Report& report = comparison.reports[index];
  return std::to_string(index + 1) + ": " + configuration_of(report, kNameCharacters) +
         (has_several_tracks(comparison)
              ? " (" + std::string(tools::to_string(report.run.request.track)) + ")"
              : "") +
         (has_several_suites(comparison) ? " [suite " + join(report.suites, ", ", text_of) + "]"
                                         : "");
}

std::string points(double share, const char* format) {
  return std::abs(share) < kSmallestShare ? "0" : number(100 * share, format);
}

std::string difference_text(const Report& base, const Report& report) {
  const std::optional<metrics::Estimate> difference = pass_difference(base, report);
  if (!difference) return kNoValue;
  std::string text = points(difference->value, "%+.1f");
  if (difference->method == metrics::IntervalMethod::none) return text;
  return text + " (" + points(difference->interval.low, "%+.0f") + " to " +
         points(difference->interval.high, "%+.0f") + ")";
}

std::string dollars_or_nothing(const std::optional<double>& amount) {
  return amount ? dollars(*amount) : kNoValue;
}

std::string overview_table(const Comparison& comparison) {
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < comparison.reports.size(); ++i) {
    const Report& report = comparison.reports[i];
    rows.push_back({"",
                    {numbered(comparison, i), std::to_string(report.samples.size()),
                     with_interval(report.all.pass_at_1, Unit::share),
                     i == 0 ? kNoValue : difference_text(comparison.reports.front(), report),
                     with_interval(report.all.perf_at_1, Unit::ratio),
                     with_interval(report.all.call_accuracy, Unit::share),
                     cost_in_words(report.usage, report.scripted()),
                     dollars_or_nothing(cost_per_attempt(report)),
                     dollars_or_nothing(report.totals.cost_per_solved),
                     grouped(report.usage.input_tokens + report.usage.output_tokens)}});
  }
  return html_table({"overview",
                     "Side by side",
                     {{"Agent, model"},
                      {"Samples", true},
                      {"Pass@1", true},
                      {"Difference to 1, points", true},
                      {"Perf@1", true},
                      {"Call accuracy", true},
                      {"Cost", true},
                      {"Cost per attempt", true},
                      {"Cost per solved", true},
                      {"Tokens", true}},
                     Narrow::cards},
                    rows,
                    "Not ranked. In brackets: 95 % intervals over the "
                    "operators; for a difference, over the differences per operator. An interval "
                    "that contains 0 shows no difference.");
}

std::string pass_plot(const Comparison& comparison) {
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < comparison.reports.size(); ++i) {
    if (comparison.reports[i].all.pass_at_1)
      bars.push_back(share_bar(numbered(comparison, i), *comparison.reports[i].all.pass_at_1));
  }
  return bar_plot("Pass@1", bars, {});
}

/// Returns the baseline of Perf, which is the same in all reports. Returns nothing if the operators
/// have different baselines. Then there is no Perf@1.
std::optional<Baseline> baseline_of(const Comparison& comparison) {
  return comparison.reports.front().all.baseline;
}

/// Returns what Perf is, for the legend of a table.
std::string perf_formula(const Comparison& comparison) {
  const std::optional<Baseline> baseline = baseline_of(comparison);
  const std::string text = "latency / submission latency";
  return baseline ? std::string(title_of(*baseline)) + " " + text
                  : "the operator's baseline's " + text + "; the operators' baselines differ";
}

std::string perf_bars(const Comparison& comparison) {
  std::vector<Bar> bars;
  std::string without;
  for (std::size_t i = 0; i < comparison.reports.size(); ++i) {
    const Report& report = comparison.reports[i];
    if (report.all.perf_at_1) {
      bars.push_back(ratio_bar(numbered(comparison, i), *report.all.perf_at_1));
    } else {
      without += (without.empty() ? "" : "; ") + std::to_string(i + 1) + ": " +
                 report.totals.no_perf_reason;
    }
  }
  if (bars.empty()) return empty_figure("Perf@1", "Not drawn: " + without + ".");
  return annotated(perf_plot(baseline_of(comparison).value_or(Baseline::oracle), bars),
                   without.empty() ? "" : "Without Perf@1: " + without + ".");
}

std::string pass_at_k_plot(const Comparison& comparison) {
  constexpr const char* kHeading = "pass@k (right)";
  std::vector<Line> lines;
  bool several = false;
  for (std::size_t i = 0; i < comparison.reports.size(); ++i) {
    Line line{numbered(comparison, i), {}};
    for (const metrics::PassPoint& point : comparison.reports[i].pass_at_k)
      line.points.push_back(
          {static_cast<double>(point.k), point.execution.value, point.execution.interval});
    several = several || line.points.size() > 1;
    lines.push_back(line);
  }
  if (!several)
    return empty_figure(kHeading,
                        "Not drawn: pass@k needs several samples of each (assay bench --samples).");
  return line_plot(kHeading, lines, {"k", false, true});
}

std::string fast_plot(const Comparison& comparison) {
  const bool by_oracle = baseline_of(comparison) == Baseline::oracle;
  std::vector<Line> lines;
  for (std::size_t i = 0; i < comparison.reports.size(); ++i) {
    const Report& report = comparison.reports[i];
    const auto& curve = by_oracle ? report.all.fast_oracle : report.all.fast_pytorch;
    if (!curve.empty()) lines.push_back(fast_line(numbered(comparison, i), curve));
  }
  return lines.empty()
             ? empty_figure("fast_p", "Not drawn: nothing was timed.")
             : line_plot(std::string(kFastHeading) + (by_oracle ? " as the oracle" : " as PyTorch"),
                         lines, {"p", true, false});
}

std::string spending_plot(const Comparison& comparison) {
  constexpr const char* kHeading = "Pass@1 against cost";
  std::vector<Spender> spenders;
  std::string without;
  for (std::size_t i = 0; i < comparison.reports.size(); ++i) {
    const Report& report = comparison.reports[i];
    const std::optional<double> cost = cost_per_attempt(report);
    if (!cost || !report.all.pass_at_1) {
      without += (without.empty() ? "" : ", ") + std::to_string(i + 1);
      continue;
    }
    const Bar bar = share_bar("", *report.all.pass_at_1);
    spenders.push_back(
        {i + 1, configuration_of(report, kNameCharacters), *cost, bar.value, bar.interval});
  }
  if (spenders.empty())
    return empty_figure(
        kHeading,
        "Not drawn: no cost above 0 is known. No model answered, it has no price, or it is free.");
  return annotated(cost_plot(kHeading, "dollars per attempt", spenders),
                   without.empty() ? ""
                                   : "Without a known cost: " + without +
                                         " (no model answered, it has no price, or it is free).");
}

std::string plots(const Comparison& comparison) {
  return "<div class=\"plots\">\n" + pass_plot(comparison) + perf_bars(comparison) +
         pass_at_k_plot(comparison) + fast_plot(comparison) + spending_plot(comparison) +
         "</div>\n";
}

/// Returns a table with one row for each configuration and one column for each group. The cells
/// contain Pass@1.
std::string group_table(const Comparison& comparison, const std::string& id,
                        const std::string& heading, const std::string& prefix,
                        Groups Report::*groups) {
  std::set<std::string> names;
  for (const Report& report : comparison.reports) {
    for (const auto& [name, summary] : report.*groups) names.insert(name);
  }
  TableHead head{id, heading, {{"Agent, model"}}, Narrow::scroll};
  for (const std::string& name : names) head.columns.push_back({prefix + group_name(name), true});
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < comparison.reports.size(); ++i) {
    TableRow row{"", {numbered(comparison, i)}};
    const Groups& own = comparison.reports[i].*groups;
    for (const std::string& name : names) {
      const auto found = own.find(name);
      row.cells.push_back(found == own.end() ? kNoValue
                                             : with_interval(found->second.pass_at_1, Unit::share));
    }
    rows.push_back(row);
  }
  return html_table(head, rows);
}

std::string error_table(const Comparison& comparison) {
  TableHead head{"errors", "Errors, by TritonBench's groups", {{"Agent, model"}}, Narrow::scroll};
  for (const metrics::GroupCount& group : comparison.reports.front().error_groups)
    head.columns.push_back({std::string(group.group), true});
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < comparison.reports.size(); ++i) {
    TableRow row{"", {numbered(comparison, i)}};
    for (const metrics::GroupCount& group : comparison.reports[i].error_groups)
      row.cells.push_back(std::to_string(group.total));
    rows.push_back(row);
  }
  return html_table(head, rows, "Number of attempts over all operators and samples.");
}

std::string stage_table(const Comparison& comparison) {
  TableHead head{"stages", "Where attempts died", {{"Agent, model"}}, Narrow::scroll};
  for (const std::string_view stage : kAttemptStages)
    head.columns.push_back({std::string(stage), true});
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < comparison.reports.size(); ++i) {
    TableRow row{"", {numbered(comparison, i)}};
    for (const StageCount& stage : comparison.reports[i].stages)
      row.cells.push_back(std::to_string(stage.attempts));
    rows.push_back(row);
  }
  return html_table(head, rows, "Attempts by the first tool that none of their versions passed.");
}

/// Returns a table with one row for each operator and one column for each configuration, beginning
/// with the configuration `first`. The table has at most kMostColumns configurations, so that it
/// fits on a sheet of paper.
std::string operator_table(const Comparison& comparison,
                           const std::map<std::string, std::vector<Solved>>& solved,
                           std::size_t first) {
  const std::size_t all = comparison.reports.size();
  const std::size_t last = std::min(first + kMostColumns, all);
  TableHead head{
      "operators-" + std::to_string(first + 1), "Operators", {{"Operator"}}, Narrow::scroll};
  if (all > kMostColumns)
    head.heading +=
        ", agents or models " + std::to_string(first + 1) + " to " + std::to_string(last);
  for (std::size_t i = first; i < last; ++i)
    head.columns.push_back({all > kMostNamedColumns
                                ? std::to_string(i + 1)
                                : printable_line(numbered(comparison, i), kColumnCharacters),
                            true});
  std::vector<TableRow> rows;
  for (const auto& [name, each] : solved) {
    TableRow row{"", {name}};
    for (std::size_t i = first; i < last; ++i)
      row.cells.push_back(std::to_string(each[i].right) + " of " + std::to_string(each[i].samples) +
                          (each[i].perf ? number(each[i].perf, " (%.2f)") : ""));
    rows.push_back(row);
  }
  return html_table(
      head, rows,
      "Right samples out of all; in brackets the best perf (" + perf_formula(comparison) + ").");
}

std::string operator_tables(const Comparison& comparison) {
  const std::map<std::string, std::vector<Solved>> solved = solved_by_operator(comparison);
  std::string tables;
  for (std::size_t first = 0; first < comparison.reports.size(); first += kMostColumns)
    tables += operator_table(comparison, solved, first);
  return tables;
}

std::string origin_table(const Comparison& comparison) {
  std::vector<std::pair<std::string, std::string>> facts;
  for (std::size_t i = 0; i < comparison.reports.size(); ++i) {
    const Report& report = comparison.reports[i];
    std::string text = report.run.request.agent + ", " + report.run.request.model + "; device";
    for (const std::string& device : report.devices) text += " " + device;
    if (report.devices.empty()) text += " none, nothing was graded";
    for (const std::string& run : report.samples)
      text += (run == report.samples.front() ? "; " : ", ") + run;
    facts.emplace_back(std::to_string(i + 1), text);
  }
  return facts_table("origin", "Where this comes from", facts);
}

}  // namespace

std::string comparison_as_html(const Comparison& comparison) {
  const Report& first = comparison.reports.front();
  const bool tracks = has_several_tracks(comparison);
  std::string body = "<p>" +
                     (tracks ? "Several tracks"
                             : "Track " + std::string(tools::to_string(first.run.request.track))) +
                     ", " + std::to_string(first.totals.operators) +
                     (first.totals.operators == 1 ? " operator" : " operators") + ".</p>\n";
  std::map<std::string, std::string> noted;  // the numbers of the configurations, by their note
  for (std::size_t i = 0; i < comparison.reports.size(); ++i) {
    if (!comparison.reports[i].scripted()) continue;
    std::string& numbers = noted[note_of(comparison.reports[i].answered_by)];
    numbers += (numbers.empty() ? "" : ", ") + std::to_string(i + 1);
  }
  for (const auto& [note, numbers] : noted)
    body += "<p class=\"note\">" + numbers + ": " + note + "</p>\n";
  if (tracks) body += "<p class=\"note\">" + std::string(kTracksNote) + "</p>\n";
  if (has_several_suites(comparison))
    body += "<p class=\"note\">" + std::string(kSuitesNote) + "</p>\n";
  std::set<std::vector<std::string>> devices;
  for (const Report& report : comparison.reports) devices.insert(report.devices);
  if (devices.size() > 1)
    body +=
        "<p class=\"note\">These ran on different devices: their times cannot be compared.</p>\n";
  body += plots(comparison) + overview_table(comparison) +
          group_table(comparison, "splits", "Pass@1 by split", "", &Report::by_split) +
          group_table(comparison, "difficulties", "Pass@1 by difficulty", "difficulty ",
                      &Report::by_difficulty) +
          error_table(comparison) + stage_table(comparison) + operator_tables(comparison) +
          origin_table(comparison);
  return html_page(
      "Assay: " + std::to_string(comparison.reports.size()) + " agents or models compared", body);
}

}  // namespace assay::report
