#include "server/cli/report_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include "reference_agents/llm/scripted.h"
#include "tools/error_taxonomy.h"

namespace assay::server {
namespace {

using sandbox::ErrorKind;
using sandbox::Outcome;
using sandbox::Verdict;

constexpr std::size_t kExplanationCharacters = 160;

/// TritonBench's call accuracy asks whether the code runs to its end, right or wrong.
bool ran_to_its_end(const Verdict& verdict) {
  return verdict.outcome == Outcome::pass || verdict.error_kind == ErrorKind::wrong_result || verdict.error_kind == ErrorKind::output_mismatch ||
         verdict.error_kind == ErrorKind::unattributed || verdict.error_kind == ErrorKind::floor_violation;
}

/// What a reader needs to understand the row without opening the verdict.
std::string explain(const Verdict& verdict, Label label) {
  if (label == Label::slow) return "right, but " + slow_hint(verdict.hints);
  if (label == Label::wrong) {
    for (const sandbox::CaseRecord& record : verdict.cases) {
      if (record.outcome != Outcome::pass && !record.reason.empty()) return "case '" + record.id + "': " + record.reason;
    }
  }
  if (verdict.diagnostic && label != Label::pass) {
    const sandbox::Diagnostic& found = *verdict.diagnostic;
    std::string text = found.exception + ": " + found.message;
    if (found.line) text = "line " + std::to_string(*found.line) + ": " + text;
    return text;
  }
  if (label != Label::pass && !verdict.detail.empty() && verdict.summary.find(verdict.detail) == std::string::npos)
    return verdict.summary + ": " + verdict.detail;
  return verdict.summary;
}

std::optional<double> largest_error(const Verdict& verdict) {
  std::optional<double> largest;
  for (const sandbox::CaseRecord& record : verdict.cases) {
    if (!record.max_abs_error) continue;
    if (std::isnan(*record.max_abs_error)) return record.max_abs_error;
    largest = std::max(largest.value_or(0), *record.max_abs_error);
  }
  return largest;
}

ReportRow make_row(const tools::OperatorScore& score) {
  ReportRow row;
  row.operator_name = score.operator_name;
  row.split = score.split;
  row.tool_calls = score.tool_calls;
  row.job = score.job;
  row.outcome = "none";
  if (!score.verdict) {
    row.label = Label::missing;
    row.explanation = score.submitted ? "submitted, but there is no verdict yet" : "there is no submission";
    return row;
  }
  const Verdict& verdict = *score.verdict;
  row.label = label_of(verdict.outcome, verdict.error_kind, verdict.stage, verdict.hints);
  row.outcome = sandbox::to_string(verdict.outcome);
  row.error_kind = sandbox::to_string(verdict.error_kind);
  if (const std::optional<tools::ErrorType> found = tools::error_type(verdict.error_kind)) {
    row.error_type = found->type;
    row.error_group = found->group;
  }
  row.max_error = largest_error(verdict);
  row.perf = verdict.perf;
  row.tier = sandbox::to_string(verdict.tier);
  row.tier_reason = printable_line(verdict.tier_reason, kExplanationCharacters);
  row.explanation = printable_line(explain(verdict, row.label), kExplanationCharacters);
  row.cases = static_cast<std::int64_t>(verdict.cases.size());
  row.skipped_cases = static_cast<std::int64_t>(verdict.skipped_cases.size());
  for (const auto& [stage, ms] : verdict.stage_ms) row.sandbox_ms += ms;
  return row;
}

std::string why_no_perf(const tools::Scorecard& scorecard, const std::vector<std::string>& devices) {
  if (scorecard.perf_at_1) return "";
  const bool on_cpu = std::all_of(devices.begin(), devices.end(), [](const std::string& device) { return device == "cpu" || device == "fake"; });
  if (devices.empty()) return "nothing was graded";
  return on_cpu ? "no GPU: nothing was timed" : "nothing was timed";
}

}  // namespace

std::array<double, 2> wilson_interval(std::int64_t successes, std::int64_t trials) {
  if (trials <= 0) return {0, 1};
  constexpr double kZ = 1.959963984540054;  // 97.5 % quantile of the normal distribution
  const double n = static_cast<double>(trials);
  const double p = static_cast<double>(successes) / n;
  const double centre = p + kZ * kZ / (2 * n);
  const double half = kZ * std::sqrt(p * (1 - p) / n + kZ * kZ / (4 * n * n));
  const double scale = 1 + kZ * kZ / n;
  return {std::max(0.0, (centre - half) / scale), std::min(1.0, (centre + half) / scale)};
}

Report make_report(const tools::Scorecard& scorecard) {
  Report report;
  report.run = scorecard.run;
  report.usage = scorecard.usage;
  report.scripted = scorecard.run.request.model == agents::kScriptedLabel;
  ReportTotals& totals = report.totals;
  std::set<std::string> devices;
  std::set<std::string> missing_layers;
  std::int64_t ran = 0;
  for (const tools::OperatorScore& score : scorecard.operators) {
    ReportRow row = make_row(score);
    ++totals.labels[std::string(to_string(row.label))];
    totals.tool_calls += row.tool_calls;
    totals.sandbox_ms += row.sandbox_ms;
    totals.slow += row.label == Label::slow ? 1 : 0;
    if (!row.error_type.empty()) ++totals.errors[row.error_group][row.error_type];
    if (score.verdict) {
      ran += ran_to_its_end(*score.verdict) ? 1 : 0;
      if (!score.verdict->provenance.device.empty()) devices.insert(score.verdict->provenance.device);
      missing_layers.insert(score.verdict->provenance.missing_layers.begin(), score.verdict->provenance.missing_layers.end());
    }
    report.rows.push_back(std::move(row));
  }
  report.devices.assign(devices.begin(), devices.end());
  report.missing_layers.assign(missing_layers.begin(), missing_layers.end());
  totals.operators = static_cast<std::int64_t>(scorecard.operators.size());
  totals.submitted = scorecard.submitted;
  totals.passed = scorecard.passed;
  totals.pass_at_1 = scorecard.pass_at_1;
  totals.pass_at_1_interval = wilson_interval(totals.passed, totals.operators);
  totals.perf_at_1 = scorecard.perf_at_1;
  totals.no_perf_reason = why_no_perf(scorecard, report.devices);
  const double all = static_cast<double>(std::max<std::int64_t>(totals.operators, 1));
  totals.call_accuracy = static_cast<double>(ran) / all;
  totals.execution_accuracy = static_cast<double>(totals.passed) / all;
  return report;
}

}  // namespace assay::server
