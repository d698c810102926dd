#include "base/json.h"

#include <cmath>

#include "server/report/text/forms.h"
#include "server/report/text/report_json.h"

namespace assay::report {
namespace {

using nlohmann::ordered_json;

/// Returns a number, or null. JSON has no NaN and no infinity, so these values become the strings
/// "nan", "inf" and "-inf".
ordered_json measured(const std::optional<double>& value) {
  if (!value) return nullptr;
  if (std::isnan(*value)) return "nan";
  if (std::isinf(*value)) return *value > 0 ? "inf" : "-inf";
  return *value;
}

ordered_json similarity_json(const std::optional<Similarity>& similarity) {
  if (!similarity) return nullptr;
  return {{"codebleu", similarity->codebleu},
          {"ngram", similarity->ngram},
          {"weighted_ngram", similarity->weighted_ngram},
          {"syntax", similarity->syntax},
          {"dataflow", similarity->dataflow}};
}

ordered_json curve_json(const std::vector<metrics::FastPoint>& curve) {
  if (curve.empty()) return nullptr;
  ordered_json out = ordered_json::array();
  for (const metrics::FastPoint& point : curve)
    out.push_back({{"p", point.p}, {"share", point.share}});
  return out;
}

/// Returns null if the operators have different baselines.
ordered_json baseline_json(const std::optional<Baseline>& baseline) {
  return baseline ? ordered_json(to_string(*baseline)) : ordered_json();
}

ordered_json summary_json(const metrics::Summary& summary, std::span<const Metric> metrics) {
  ordered_json out = {{"operators", summary.operators},
                      {"samples", summary.samples},
                      {"right", summary.right},
                      {"pass_at_1", estimate_json(summary.pass_at_1)},
                      {"call_accuracy", estimate_json(summary.call_accuracy)},
                      {"baseline", baseline_json(summary.baseline)},
                      {"perf_at_1", estimate_json(summary.perf_at_1)}};
  for (const Metric& metric : metrics) {
    if (metric.averaged) out[std::string(metric.key)] = estimate_json(mean_of(summary, metric));
  }
  out["fast_p_oracle"] = curve_json(summary.fast_oracle);
  out["fast_p_pytorch"] = curve_json(summary.fast_pytorch);
  out["fast_p_torch_compile"] = curve_json(summary.fast_torch_compile);
  return out;
}

ordered_json groups_json(const Groups& groups, std::span<const Metric> metrics) {
  ordered_json out = ordered_json::object();
  for (const auto& [name, summary] : groups) out[name] = summary_json(summary, metrics);
  return out;
}

ordered_json errors_json(const std::vector<metrics::GroupCount>& groups) {
  ordered_json errors = ordered_json::object();
  for (const metrics::GroupCount& group : groups) {
    ordered_json types = ordered_json::object();
    for (const auto& [type, count] : group.types) types[std::string(type)] = count;
    errors[std::string(group.group)] = {{"total", group.total}, {"types", types}};
  }
  return errors;
}

ordered_json stages_json(const std::vector<StageCount>& stages) {
  ordered_json out = ordered_json::object();
  for (const StageCount& stage : stages)
    out[std::string(stage.stage)] = {{"attempts", stage.attempts},
                                     {"error_groups", errors_json(stage.groups)},
                                     {"without_error", stage.without_error}};
  return out;
}

ordered_json metrics_json(const Report& report) {
  ordered_json pass = ordered_json::array();
  for (const metrics::PassPoint& point : report.pass_at_k)
    pass.push_back({{"k", point.k},
                    {"call", estimate_json(point.call)},
                    {"execution", estimate_json(point.execution)}});
  return {{"all", summary_json(report.all, report.metrics)},
          {"by_split", groups_json(report.by_split, report.metrics)},
          {"by_family", groups_json(report.by_family, report.metrics)},
          {"by_difficulty", groups_json(report.by_difficulty, report.metrics)},
          {"by_suite", groups_json(report.by_suite, report.metrics)},
          {"files", report.files ? summary_json(*report.files, report.metrics) : ordered_json()},
          {"pass_at_k", pass},
          {"error_groups", errors_json(report.error_groups)},
          {"stages", stages_json(report.stages)},
          {"similarity", estimate_json(report.totals.similarity)},
          {"bootstrap",
           {{"seed", metrics::kReportSeed},
            {"resamples", metrics::kBootstrapResamples},
            {"confidence", metrics::kConfidence}}}};
}

ordered_json suite_json(const SuiteId& suite) {
  return {{"name", suite.name}, {"version", suite.version}, {"digest", suite.digest}};
}

ordered_json suites_json(const std::vector<SuiteId>& suites) {
  ordered_json out = ordered_json::array();
  for (const SuiteId& suite : suites) out.push_back(suite_json(suite));
  return out;
}

ordered_json row_json(const ReportRow& row, std::span<const Metric> metrics) {
  ordered_json out = {{"operator", row.operator_name},
                      {"split", row.split},
                      {"family", row.family},
                      {"difficulty", row.difficulty},
                      {"sample", row.sample},
                      {"label", to_string(row.label)},
                      {"outcome", row.outcome},
                      {"error_kind", row.error_kind},
                      {"error_type", row.error_type},
                      {"error_group", row.error_group},
                      {"died_at", row.failure ? row.failure->stage : ""},
                      {"died_of", row.failure ? row.failure->error_type : ""}};
  for (const Metric& metric : metrics) {
    if (metric.key != kSimilarityKey) out[std::string(metric.key)] = measured(metric.of(row));
  }
  out["baseline"] = baseline_json(row.verdict ? row.verdict->baseline : std::nullopt);
  out["similarity"] = similarity_json(row.similarity);
  out["tier"] = row.tier;
  out["tier_reason"] = row.tier_reason;
  out["explanation"] = row.explanation;
  out["cases"] = row.cases;
  out["skipped_cases"] = row.skipped_cases;
  out["tool_calls"] = row.tool_calls;
  out["sandbox_ms"] = row.sandbox_ms;
  out["job"] = row.job;
  out["suite_id"] = suite_json(row.suite_id);
  return out;
}

}  // namespace

ordered_json estimate_json(const std::optional<metrics::Estimate>& estimate) {
  if (!estimate) return nullptr;
  ordered_json out = {{"value", estimate->value},
                      {"operators", estimate->count},
                      {"interval", nullptr},
                      {"method", nullptr}};
  if (estimate->method == metrics::IntervalMethod::none) return out;
  out["interval"] = {estimate->interval.low, estimate->interval.high};
  out["method"] = estimate->method == metrics::IntervalMethod::wilson ? "wilson" : "bootstrap";
  return out;
}

ordered_json report_json(const Report& report) {
  const ReportTotals& totals = report.totals;
  ordered_json root = {{"format", kReportFormat},
                       {"run",
                        {{"handle", report.run.handle},
                         {"samples", report.samples},
                         {"agent", report.run.request.agent},
                         {"model", report.run.request.model},
                         {"scripted", report.scripted()},
                         {"ranked", !report.scripted()},
                         {"track", tools::to_string(report.run.request.track)},
                         {"suite", report.run.request.suite},
                         {"suite_id", suite_json(report.run.suite_id)},
                         {"judged_by", suites_json(report.suites)},
                         {"created_unix_ms", report.run.created_unix_ms},
                         {"devices", report.devices},
                         {"missing_layers", report.missing_layers},
                         {"imported", report.imported}}},
                       {"operators", ordered_json::array()},
                       {"totals",
                        {{"operators", totals.operators},
                         {"attempts", totals.attempts},
                         {"submitted", totals.submitted},
                         {"passed", totals.passed},
                         {"slow", totals.slow},
                         {"pass_at_1", totals.pass_at_1},
                         {"pass_at_1_interval", totals.pass_at_1_interval},
                         {"baseline", baseline_json(report.all.baseline)},
                         {"perf_at_1", measured(totals.perf_at_1)},
                         {"generalisation", measured(totals.generalisation)},
                         {"no_perf_reason", totals.no_perf_reason},
                         {"call_accuracy", totals.call_accuracy},
                         {"execution_accuracy", totals.execution_accuracy},
                         {"labels", totals.labels},
                         {"errors", totals.errors},
                         {"input_tokens", report.usage.input_tokens},
                         {"output_tokens", report.usage.output_tokens},
                         {"cost_usd", report.usage.cost_known ? ordered_json(report.usage.cost_usd)
                                                              : ordered_json()},
                         {"known_cost_usd", report.usage.cost_usd},
                         {"cost_per_pass_rate", measured(totals.cost_per_pass_rate)},
                         {"cost_per_perf", measured(totals.cost_per_perf)},
                         {"cost_per_solved", measured(totals.cost_per_solved)},
                         {"tool_calls", totals.tool_calls},
                         {"sandbox_ms", totals.sandbox_ms}}},
                       {"metrics", metrics_json(report)}};
  if (report.suites.size() > 1) root["suites_note"] = kSuitesNote;
  return root;
}

std::string report_as_json(const Report& report) {
  ordered_json root = report_json(report);
  for (const ReportRow& row : report.rows)
    root["operators"].push_back(row_json(row, report.metrics));
  return root.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string comparison_as_json(const Comparison& comparison) {
  ordered_json root = {{"format", kReportFormat}, {"comparison", ordered_json::array()}};
  if (has_several_tracks(comparison)) root["note"] = kTracksNote;
  if (has_several_suites(comparison)) root["suites_note"] = kSuitesNote;
  for (const Report& report : comparison.reports)
    root["comparison"].push_back(ordered_json::parse(report_as_json(report)));
  return root.dump(2) + "\n";
}

}  // namespace assay::report
