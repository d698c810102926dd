#include <cstdio>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "server/report/text/forms.h"

namespace assay::report {
namespace {

// The characters with which a formula begins, as in site/src/csv.ts.
constexpr std::string_view kFormulaStarts = "=+-@";

/// Returns a text as one line, because people and tools read CSV line by line. Quotes it as RFC
/// 4180 requires. Puts an apostrophe before a text that a spreadsheet would execute as a formula;
/// some spreadsheets skip white space before it. Such a text is possible, because explanations
/// contain text of the submission.
std::string text_cell(const std::string& raw) {
  std::string text = escape_line(raw);
  const std::size_t first = text.find_first_not_of(' ');
  if (first != std::string::npos && kFormulaStarts.find(text[first]) != std::string_view::npos)
    text.insert(0, "'");
  if (text.find_first_of(",\"") == std::string::npos) return text;
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

/// Returns a column of texts.
CsvColumn text_column(std::string key,
                      std::function<std::string(const Report&, const ReportRow&)> text) {
  return {std::move(key), [text = std::move(text)](const Report& report, const ReportRow& row) {
            return text_cell(text(report, row));
          }};
}

/// Returns a column of texts that depend only on the row, not on the rest of the report.
CsvColumn text_of_row(std::string key, std::function<std::string(const ReportRow&)> text) {
  return {std::move(key), [text = std::move(text)](const Report&, const ReportRow& row) {
            return text_cell(text(row));
          }};
}

/// Returns a column of numbers that depend only on the row.
CsvColumn number_of_row(std::string key, std::function<std::string(const ReportRow&)> number) {
  return {std::move(key), [number = std::move(number)](const Report&, const ReportRow& row) {
            return number(row);
          }};
}

Columns columns_of(std::span<const Metric> metrics) {
  Columns columns = {
      text_column("run",
                  [](const Report& report, const ReportRow& row) {
                    return report.samples[static_cast<std::size_t>(row.sample - 1)];
                  }),
      text_column("agent",
                  [](const Report& report, const ReportRow&) { return report.run.request.agent; }),
      text_column("model",
                  [](const Report& report, const ReportRow&) { return report.run.request.model; }),
      text_column("scripted",
                  [](const Report& report, const ReportRow&) {
                    return std::string(report.scripted() ? "true" : "false");
                  }),
      text_column("track",
                  [](const Report& report, const ReportRow&) {
                    return std::string(tools::to_string(report.run.request.track));
                  }),
      text_of_row("operator", [](const ReportRow& row) { return row.operator_name; }),
      text_of_row("split", [](const ReportRow& row) { return row.split; }),
      text_of_row("label", [](const ReportRow& row) { return std::string(to_string(row.label)); }),
      text_of_row("outcome", [](const ReportRow& row) { return row.outcome; }),
      text_of_row("error_kind", [](const ReportRow& row) { return row.error_kind; }),
      text_of_row("error_type", [](const ReportRow& row) { return row.error_type; }),
      text_of_row("error_group", [](const ReportRow& row) { return row.error_group; })};
  add_metrics(columns, metrics, true);
  const Columns middle = {
      text_of_row("tier", [](const ReportRow& row) { return row.tier; }),
      number_of_row("tool_calls",
                    [](const ReportRow& row) { return std::to_string(row.tool_calls); }),
      number_of_row("sandbox_ms", [](const ReportRow& row) { return number_cell(row.sandbox_ms); }),
      text_of_row("explanation", [](const ReportRow& row) { return row.explanation; }),
      text_of_row("family", [](const ReportRow& row) { return row.family; }),
      number_of_row("difficulty",
                    [](const ReportRow& row) {
                      return row.difficulty == 0 ? "" : std::to_string(row.difficulty);
                    }),
      number_of_row("sample", [](const ReportRow& row) { return std::to_string(row.sample); }),
      text_of_row("suite", [](const ReportRow& row) { return row.suite_id.name; }),
      text_of_row("suite_version", [](const ReportRow& row) { return row.suite_id.version; }),
      text_of_row("suite_digest", [](const ReportRow& row) { return row.suite_id.digest; })};
  columns.insert(columns.end(), middle.begin(), middle.end());
  add_metrics(columns, metrics, false);
  columns.push_back(text_of_row("died_at", [](const ReportRow& row) {
    return row.failure ? std::string(row.failure->stage) : std::string();
  }));
  columns.push_back(text_of_row("died_of", [](const ReportRow& row) {
    return row.failure ? std::string(row.failure->error_type) : std::string();
  }));
  columns.push_back({"run_cost_usd", cost_of_run});
  columns.push_back(text_of_row("baseline", [](const ReportRow& row) {
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
