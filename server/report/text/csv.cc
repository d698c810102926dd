#include <cstdio>

#include "server/report/model/formats.h"

namespace assay::server {
namespace {

/// RFC 4180. A cell that a spreadsheet would take for a formula gets an apostrophe: explanations
/// are partly a submission's words.
std::string cell(std::string text) {
  if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos)
    text.insert(0, "'");
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char character : text) quoted += character == '"' ? "\"\"" : std::string(1, character);
  return quoted + "\"";
}

std::string number(const std::optional<double>& value) {
  if (!value) return "";
  char text[64];
  std::snprintf(text, sizeof(text), "%.9g", *value);
  return text;
}

/// What the row's whole run cost; a run has one cost, not one per operator.
std::string cost_of_run(const Report& report, const ReportRow& row) {
  const tools::Usage& usage = report.sample_usage[static_cast<std::size_t>(row.sample - 1)];
  return usage.cost_known ? number(usage.cost_usd) : "not known";
}

}  // namespace

std::string report_as_csv(const Report& report) {
  std::string text =
      "run,agent,model,scripted,track,operator,split,label,outcome,error_kind,error_type,error_"
      "group,max_error,perf,tier,tool_calls,sandbox_ms,explanation,"
      "family,difficulty,sample,speed_up,speed_up_pytorch,gpu_efficiency,codebleu,gpu_efficiency_"
      "peak,died_at,died_of,run_cost_usd\r\n";
  for (const ReportRow& row : report.rows) {
    text += report.samples[static_cast<std::size_t>(row.sample - 1)] + "," +
            cell(report.run.request.agent) + "," + cell(report.run.request.model) + "," +
            (report.scripted ? "true" : "false") + "," +
            std::string(tools::to_string(report.run.request.track)) + "," + row.operator_name +
            "," + row.split + "," + cell(std::string(to_string(row.label))) + "," + row.outcome +
            "," + row.error_kind + "," + cell(row.error_type) + "," + cell(row.error_group) + "," +
            number(row.max_error) + "," + number(row.perf) + "," + row.tier + "," +
            std::to_string(row.tool_calls) + "," + number(row.sandbox_ms) + "," +
            cell(row.explanation) + "," + row.family + "," +
            (row.difficulty == 0 ? "" : std::to_string(row.difficulty)) + "," +
            std::to_string(row.sample) + "," + number(row.speed_up) + "," +
            number(row.speed_up_pytorch) + "," + number(row.efficiency) + "," +
            (row.similarity ? number(row.similarity->codebleu) : "") + "," +
            number(row.peak_efficiency) + "," +
            (row.death ? row.death->stage + "," + row.death->error_type : ",") + "," +
            cost_of_run(report, row) + "\r\n";
  }
  return text;
}

}  // namespace assay::server
