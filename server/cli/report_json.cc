#include <cmath>
#include <nlohmann/json.hpp>

#include "server/cli/report_formats.h"

namespace assay::server {
namespace {

using nlohmann::ordered_json;

/// JSON has no NaN and no infinity; their names keep what was measured.
ordered_json measured(const std::optional<double>& value) {
  if (!value) return nullptr;
  if (std::isnan(*value)) return "nan";
  if (std::isinf(*value)) return *value > 0 ? "inf" : "-inf";
  return *value;
}

ordered_json row_json(const ReportRow& row) {
  return {{"operator", row.operator_name},
          {"split", row.split},
          {"label", to_string(row.label)},
          {"outcome", row.outcome},
          {"error_kind", row.error_kind},
          {"error_type", row.error_type},
          {"error_group", row.error_group},
          {"max_error", measured(row.max_error)},
          {"perf", measured(row.perf)},
          {"tier", row.tier},
          {"tier_reason", row.tier_reason},
          {"explanation", row.explanation},
          {"cases", row.cases},
          {"skipped_cases", row.skipped_cases},
          {"tool_calls", row.tool_calls},
          {"sandbox_ms", row.sandbox_ms},
          {"job", row.job}};
}

}  // namespace

std::string report_as_json(const Report& report) {
  const ReportTotals& totals = report.totals;
  ordered_json root = {{"format", kReportFormat},
                       {"run",
                        {{"handle", report.run.handle},
                         {"agent", report.run.request.agent},
                         {"model", report.run.request.model},
                         {"scripted", report.scripted},
                         {"ranked", !report.scripted},
                         {"track", tools::to_string(report.run.request.track)},
                         {"suite", report.run.request.suite},
                         {"created_unix_ms", report.run.created_unix_ms},
                         {"devices", report.devices},
                         {"missing_layers", report.missing_layers}}},
                       {"operators", ordered_json::array()},
                       {"totals",
                        {{"operators", totals.operators},
                         {"submitted", totals.submitted},
                         {"passed", totals.passed},
                         {"slow", totals.slow},
                         {"pass_at_1", totals.pass_at_1},
                         {"pass_at_1_interval", totals.pass_at_1_interval},
                         {"perf_at_1", measured(totals.perf_at_1)},
                         {"no_perf_reason", totals.no_perf_reason},
                         {"call_accuracy", totals.call_accuracy},
                         {"execution_accuracy", totals.execution_accuracy},
                         {"labels", totals.labels},
                         {"errors", totals.errors},
                         {"input_tokens", report.usage.input_tokens},
                         {"output_tokens", report.usage.output_tokens},
                         {"cost_usd", report.usage.cost_usd},
                         {"tool_calls", totals.tool_calls},
                         {"sandbox_ms", totals.sandbox_ms}}}};
  for (const ReportRow& row : report.rows) root["operators"].push_back(row_json(row));
  return root.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace assay::server
