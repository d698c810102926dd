#include <cstdio>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "server/report/text/forms.h"

namespace assay::report {
namespace {

// The characters with which a formula begins, as in site/src/csv.ts. Some spreadsheets skip white
// space at the beginning of a cell.
constexpr std::string_view kFormulaStarts = "=+-@\t\r\n";

/// Quotes a cell as RFC 4180 requires. Puts an apostrophe before a text that a spreadsheet would
/// execute as a formula. Such a text is possible, because explanations contain text of the
/// submission.
std::string cell(std::string text) {
  if (!text.empty() && kFormulaStarts.find(text.front()) != std::string_view::npos)
    text.insert(0, "'");
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char character : text) quoted += character == '"' ? "\"\"" : std::string(1, character);
  return quoted + "\"";
}

std::string number_cell(const std::optional<double>& value) {
  if (!value) return "";
  char text[64];
  std::snprintf(text, sizeof(text), "%.9g", *value);
  return text;
}

/// Returns the cost of the row's run. All rows of one run have the same value, because agents
/// report costs for a run, not for a single attempt.
std::string cost_of_run(const Report& report, const ReportRow& row) {
  const tools::Usage& usage = report.sample_usage[static_cast<std::size_t>(row.sample - 1)];
  return usage.cost_known ? number_cell(usage.cost_usd) : "not known";
}

struct CsvColumn {
  std::string key;
  std::function<std::string(const Report&, const ReportRow&)> cell;
};

using Columns = std::vector<CsvColumn>;

void add_metrics(Columns& columns, std::span<const Metric> metrics, bool beside_the_outcome) {
  for (const Metric& metric : metrics) {
    if ((metric.table == OperatorTable::all) != beside_the_outcome) continue;
    columns.push_back({std::string(metric.key), [&metric](const Report&, const ReportRow& row) {
                         return number_cell(metric.of(row));
                       }});
  }
}

/// Returns a column whose cells depend only on the row, not on the rest of the report.
CsvColumn of_row(std::string key, std::function<std::string(const ReportRow&)> cell) {
  return {std::move(key),
          [cell = std::move(cell)](const Report&, const ReportRow& row) { return cell(row); }};
}

Columns columns_of(std::span<const Metric> metrics) {
  Columns columns = {
      {"run",
       [](const Report& report, const ReportRow& row) {
         return report.samples[static_cast<std::size_t>(row.sample - 1)];
       }},
      {"agent",
       [](const Report& report, const ReportRow&) { return cell(report.run.request.agent); }},
      {"model",
       [](const Report& report, const ReportRow&) { return cell(report.run.request.model); }},
      {"scripted",
       [](const Report& report, const ReportRow&) { return report.scripted() ? "true" : "false"; }},
      {"track",
       [](const Report& report, const ReportRow&) {
         return std::string(tools::to_string(report.run.request.track));
       }},
      of_row("operator", [](const ReportRow& row) { return cell(row.operator_name); }),
      of_row("split", [](const ReportRow& row) { return row.split; }),
      of_row("label", [](const ReportRow& row) { return cell(std::string(to_string(row.label))); }),
      of_row("outcome", [](const ReportRow& row) { return row.outcome; }),
      of_row("error_kind", [](const ReportRow& row) { return row.error_kind; }),
      of_row("error_type", [](const ReportRow& row) { return cell(row.error_type); }),
      of_row("error_group", [](const ReportRow& row) { return cell(row.error_group); })};
  add_metrics(columns, metrics, true);
  const Columns middle = {
      of_row("tier", [](const ReportRow& row) { return row.tier; }),
      of_row("tool_calls", [](const ReportRow& row) { return std::to_string(row.tool_calls); }),
      of_row("sandbox_ms", [](const ReportRow& row) { return number_cell(row.sandbox_ms); }),
      of_row("explanation", [](const ReportRow& row) { return cell(row.explanation); }),
      of_row("family", [](const ReportRow& row) { return row.family; }),
      of_row("difficulty",
             [](const ReportRow& row) {
               return row.difficulty == 0 ? "" : std::to_string(row.difficulty);
             }),
      of_row("sample", [](const ReportRow& row) { return std::to_string(row.sample); }),
      of_row("suite", [](const ReportRow& row) { return cell(row.suite_id.name); }),
      of_row("suite_version", [](const ReportRow& row) { return cell(row.suite_id.version); }),
      of_row("suite_digest", [](const ReportRow& row) { return row.suite_id.digest; })};
  columns.insert(columns.end(), middle.begin(), middle.end());
  add_metrics(columns, metrics, false);
  columns.push_back(of_row(
      "died_at", [](const ReportRow& row) { return row.failure ? row.failure->stage : ""; }));
  columns.push_back(of_row(
      "died_of", [](const ReportRow& row) { return row.failure ? row.failure->error_type : ""; }));
  columns.push_back({"run_cost_usd", cost_of_run});
  columns.push_back(of_row("baseline", [](const ReportRow& row) {
    return row.verdict && row.verdict->baseline ? std::string(to_string(*row.verdict->baseline))
                                                : std::string();
  }));
  return columns;
}

}  // namespace

std::string report_as_csv(const Report& report) {
  const Columns columns = columns_of(report.metrics);
  std::string text;
  for (const CsvColumn& column : columns) text += (text.empty() ? "" : ",") + column.key;
  text += "\r\n";
  for (const ReportRow& row : report.rows) {
    std::string line;
    for (const CsvColumn& column : columns) line += "," + column.cell(report, row);
    text += line.substr(1) + "\r\n";
  }
  return text;
}

std::string comparison_as_csv(const Comparison& comparison) {
  std::string text;
  for (const Report& report : comparison.reports) {
    const std::string lines = report_as_csv(report);
    text += text.empty() ? lines : lines.substr(lines.find('\n') + 1);
  }
  return text;
}

}  // namespace assay::report
