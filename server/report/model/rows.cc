#include "server/report/model/rows.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "base/text.h"
#include "metrics/estimate.h"
#include "metrics/measures.h"
#include "sandbox/device/make_device.h"
#include "server/report/model/format.h"
#include "tools/model/outcome_names.h"
#include "tools/model/public_verdict.h"

namespace assay::report {
namespace {

using sandbox::Outcome;
using sandbox::Verdict;

constexpr std::size_t kExplanationCharacters = 160;

std::string explain(const Verdict& verdict, Label label) {
  if (label == Label::slow) return "right, but " + slow_hint(verdict.hints);
  if (label == Label::wrong) {
    for (const sandbox::CaseRecord& record : verdict.cases) {
      if (record.outcome != Outcome::pass && !record.reason.empty())
        return "case '" + record.id + "': " + record.reason;
    }
  }
  if (verdict.diagnostic && label != Label::pass) {
    const sandbox::Diagnostic& found = *verdict.diagnostic;
    std::string text =
        found.exception.empty() ? found.message : found.exception + ": " + found.message;
    if (found.line) text = "line " + std::to_string(*found.line) + ": " + text;
    return text;
  }
  if (label != Label::pass && !verdict.detail.empty() &&
      verdict.summary.find(verdict.detail) == std::string::npos)
    return verdict.summary + ": " + verdict.detail;
  return verdict.summary;
}

/// Returns the wall time in milliseconds that the graded job spent in the sandbox. The wait in the
/// queue is not included.
double sandbox_ms_of(const Verdict& verdict) {
  double total = 0;
  for (const auto& [stage, ms] : verdict.stage_ms) {
    if (stage != sandbox::to_string(sandbox::Stage::queue)) total += ms;
  }
  return total;
}

/// Returns a copy of the score in which the public verdict replaces the full verdict. Reports are
/// published, so they must not reveal hidden cases. The suite keeps its digest, because readers
/// compare reports by it.
tools::OperatorScore public_score(tools::OperatorScore score, const operators::Operator* op) {
  if (!score.verdict) return score;
  const SuiteId suite = score.verdict->provenance.suite_id;
  score.verdict = tools::public_verdict(*score.verdict, op).verdict();
  score.verdict->provenance.suite_id = suite;
  return score;
}

/// Returns the row for a score. The score's verdict must be the public verdict.
ReportRow make_row(const tools::OperatorScore& score) {
  ReportRow row;
  row.operator_name = score.operator_name;
  row.split = score.split;
  row.tool_calls = score.tool_calls;
  row.job = score.job;
  row.failure = failure_of(score);
  row.outcome = "none";
  if (!score.verdict) {
    row.label = Label::missing;
    row.explanation =
        score.submitted ? "submitted, but there is no verdict yet" : "there is no submission";
    return row;
  }
  const Verdict& verdict = *score.verdict;
  row.label = label_of(verdict.outcome, verdict.error_kind, verdict.stage, verdict.hints);
  row.language = verdict.language;
  row.outcome = sandbox::to_string(verdict.outcome);
  row.error_kind = sandbox::to_string(verdict.error_kind);
  if (const std::optional<tools::ErrorType> found = tools::error_type(verdict.error_kind)) {
    row.error_type = found->type;
    row.error_group = found->group;
  }
  row.verdict = std::make_shared<const Verdict>(verdict);
  row.tier = sandbox::to_string(verdict.tier);
  row.tier_reason = printable_line(verdict.tier_reason, kExplanationCharacters);
  row.explanation = explanation_of(verdict);
  row.cases = static_cast<std::int64_t>(verdict.cases.size());
  row.skipped_cases = tools::cases_not_run(verdict.skipped_cases);
  return row;
}

std::string why_no_perf(const Report& report) {
  if (report.totals.perf_at_1) return "";
  if (report.devices.empty()) return "nothing was graded";
  if (!report.all.baseline) return std::string(tools::kMixedBaselines);
  if (std::none_of(report.devices.begin(), report.devices.end(), sandbox::can_time))
    return "nothing was timed on device " + join(report.devices, ", ", escape_line);
  const auto timed = std::count_if(
      report.rows.begin(), report.rows.end(),
      [](const ReportRow& row) { return row.verdict && row.verdict->perf.has_value(); });
  if (timed == 0) return "nothing was timed";
  return std::to_string(report.totals.passed - timed) + " of " +
         std::to_string(report.totals.passed) + " right submissions were not timed";
}

/// Adds the row of an attempt, and adds the attempt to the totals.
void add_attempt(Report& report, const tools::OperatorScore& score, ReportRow row) {
  ReportTotals& totals = report.totals;
  ++totals.attempts;
  totals.submitted += score.submitted ? 1 : 0;
  totals.passed += score.verdict && score.verdict->outcome == Outcome::pass ? 1 : 0;
  ++totals.labels[std::string(to_string(row.label))];
  totals.tool_calls += row.tool_calls;
  totals.sandbox_ms += row.sandbox_ms;
  totals.slow += row.label == Label::slow ? 1 : 0;
  if (!row.error_type.empty()) ++totals.errors[row.error_group][row.error_type];
  report.rows.push_back(std::move(row));
}

void add_provenance(const sandbox::Provenance& provenance, std::set<std::string>& devices,
                    std::set<std::string>& missing_layers) {
  if (!provenance.device.empty()) devices.insert(provenance.device);
  missing_layers.insert(provenance.missing_layers.begin(), provenance.missing_layers.end());
}

/// Returns the number of errors of the rows for each of TritonBench's groups of errors.
/// count_errors() cannot fail here, because its table of groups contains every type of the
/// classification (a test checks this).
std::vector<metrics::GroupCount> groups_of(const std::vector<ReportRow>& rows) {
  std::vector<std::pair<std::string, std::string>> errors;
  for (const ReportRow& row : rows) {
    if (!row.error_type.empty()) errors.emplace_back(row.error_group, row.error_type);
  }
  return metrics::count_errors(errors).value_or(std::vector<metrics::GroupCount>());
}

/// Removes Perf@1 from groups if the operators of the report have different baselines. Otherwise
/// one column of a table would contain values that cannot be compared.
void drop_mixed_perf(Report& report) {
  if (report.all.baseline) return;
  for (Groups* groups : {&report.by_split, &report.by_family, &report.by_difficulty}) {
    for (auto& [name, summary] : *groups) summary.perf_at_1.reset();
  }
}

void finish_metrics(Report& report, const std::vector<metrics::OperatorSamples>& suite) {
  report.all = metrics::summarise(suite);
  report.by_split =
      metrics::summarise_by(suite, [](const metrics::OperatorSamples& op) { return op.split; });
  report.by_family =
      metrics::summarise_by(suite, [](const metrics::OperatorSamples& op) { return op.family; });
  report.by_difficulty = metrics::summarise_by(
      suite, [](const metrics::OperatorSamples& op) { return std::to_string(op.difficulty); });
  drop_mixed_perf(report);
  report.pass_at_k = metrics::pass_curve(suite);
  report.error_groups = groups_of(report.rows);
  std::vector<std::optional<FailureStage>> failures;
  for (const ReportRow& row : report.rows) failures.push_back(row.failure);
  report.stages = count_stages(failures);
}

void finish_totals(Report& report) {
  ReportTotals& totals = report.totals;
  totals.operators = report.all.operators;
  totals.pass_at_1 = report.all.pass_at_1 ? report.all.pass_at_1->value : 0;
  const metrics::Interval wilson = metrics::wilson_interval(
      totals.pass_at_1 * static_cast<double>(totals.operators), totals.operators);
  totals.pass_at_1_interval = {wilson.low, wilson.high};
  if (report.all.perf_at_1) totals.perf_at_1 = report.all.perf_at_1->value;
  totals.no_perf_reason = why_no_perf(report);
  totals.call_accuracy = report.all.call_accuracy ? report.all.call_accuracy->value : 0;
  totals.execution_accuracy = totals.pass_at_1;
  if (!report.usage.cost_known || (report.scripted() && !(report.usage.cost_usd > 0))) return;
  totals.cost_per_pass_rate = metrics::cost_per_rate(report.usage.cost_usd, totals.pass_at_1);
  if (totals.perf_at_1)
    totals.cost_per_perf = metrics::cost_per_rate(report.usage.cost_usd, *totals.perf_at_1);
  totals.cost_per_solved = metrics::cost_per_solved(report.usage.cost_usd, totals.passed);
}

Status check_samples(const std::vector<tools::Scorecard>& samples) {
  if (samples.empty()) return fail(ErrorCode::invalid_argument, "a report needs a run");
  const tools::RunInfo& first = samples.front().run;
  for (const tools::Scorecard& sample : samples) {
    const tools::RunInfo& run = sample.run;
    const bool alike = run.request.agent == first.request.agent &&
                       run.request.model == first.request.model &&
                       run.request.track == first.request.track &&
                       run.operators == first.operators && run.suite_id == first.suite_id &&
                       sample.operators.size() == samples.front().operators.size();
    if (alike) continue;
    return fail(ErrorCode::invalid_argument,
                "runs of one report are samples of the same agent, model, track, suite and "
                "operators; " +
                    run.handle + " differs from " + first.handle + " (" +
                    escape_line(first.request.agent) + ", " + escape_line(first.request.model) +
                    ", suite " + text_of(first.suite_id) + ")");
  }
  return {};
}

void add_usage(Report& report, const tools::Scorecard& card) {
  tools::Usage usage = card.usage;
  usage.cost_known =
      usage.cost_known ||
      (report.scripted() && !(usage.cost_usd > 0));  // without a model, the cost is known to be 0
  report.usage.input_tokens += usage.input_tokens;
  report.usage.output_tokens += usage.output_tokens;
  report.usage.cost_usd += usage.cost_usd;
  report.usage.cost_known = usage.cost_known && (report.samples.empty() || report.usage.cost_known);
  report.samples.push_back(card.run.handle);
  report.sample_usage.push_back(usage);
}

/// Returns the baseline of one operator. Returns nothing if the samples have different baselines,
/// for example because the suite was imported again between two runs.
std::optional<Baseline> baseline_of(const std::vector<tools::Scorecard>& samples, std::size_t index,
                                    const operators::Operator* op) {
  std::optional<Baseline> common;
  for (const tools::Scorecard& card : samples) {
    const tools::OperatorScore& score = card.operators[index];
    if (!score.verdict) continue;
    const Baseline baseline = tools::baseline_of(score, op);
    if (common && *common != baseline) return std::nullopt;
    common = baseline;
  }
  return common ? common : tools::baseline_of(samples.front().operators[index], op);
}

Report report_of(const std::vector<tools::Scorecard>& samples, const operators::Catalog* catalog,
                 std::span<const Metric> metrics) {
  Report report;
  report.run = samples.front().run;
  report.answered_by = parse_model_label(report.run.request.model).answered_by;
  report.metrics = metrics;
  std::set<std::string> devices;
  std::set<std::string> missing_layers;
  for (const tools::Scorecard& card : samples) add_usage(report, card);
  std::vector<metrics::OperatorSamples> suite;
  std::vector<double> generalisations;
  std::map<std::string, std::set<std::string>> suites_of;  // by operator
  std::map<std::string, std::string> file_of;              // the file of the benchmark, by operator
  for (std::size_t i = 0; i < samples.front().operators.size(); ++i) {
    const std::string& name = samples.front().operators[i].operator_name;
    const operators::Operator* op = catalog == nullptr ? nullptr : catalog->find(name);
    if (op != nullptr && !op->provenance.file.empty()) file_of[name] = op->provenance.file;
    metrics::OperatorSamples attempts{name,
                                      samples.front().operators[i].split,
                                      op == nullptr ? "" : op->family,
                                      op == nullptr ? 0 : op->difficulty,
                                      {},
                                      baseline_of(samples, i, op)};
    for (std::size_t sample = 0; sample < samples.size(); ++sample) {
      const tools::OperatorScore& judged = samples[sample].operators[i];
      const tools::OperatorScore score = public_score(judged, op);
      ReportRow row = make_row(score);
      if (judged.verdict) row.sandbox_ms = sandbox_ms_of(*judged.verdict);
      if (const auto value = judged.verdict ? generalisation_of(*judged.verdict) : std::nullopt)
        generalisations.push_back(*value);
      row.family = attempts.family;
      row.difficulty = attempts.difficulty;
      row.sample = static_cast<std::int64_t>(sample) + 1;
      row.suite_id =
          score.verdict ? score.verdict->provenance.suite_id : samples[sample].run.suite_id;
      if (std::find(report.suites.begin(), report.suites.end(), row.suite_id) ==
          report.suites.end())
        report.suites.push_back(row.suite_id);
      suites_of[name].insert(text_of(row.suite_id));
      attempts.samples.push_back(sample_of(row, metrics));
      if (score.verdict) add_provenance(score.verdict->provenance, devices, missing_layers);
      add_attempt(report, score, std::move(row));
    }
    suite.push_back(std::move(attempts));
  }
  report.devices.assign(devices.begin(), devices.end());
  report.missing_layers.assign(missing_layers.begin(), missing_layers.end());
  finish_metrics(report, suite);
  if (report.suites.size() > 1)
    report.by_suite = metrics::summarise_by(suite, [&](const metrics::OperatorSamples& op) {
      return join(suites_of.at(op.name), " and ");
    });
  if (!suite.empty() && file_of.size() == suite.size())
    report.files = metrics::summarise(metrics::joined_by(
        suite, [&](const metrics::OperatorSamples& op) { return file_of.at(op.name); }));
  finish_totals(report);
  if (report.run.request.track != tools::Track::practice)
    report.totals.generalisation = tools::shown_perf(mean_generalisation(generalisations));
  return report;
}

}  // namespace

std::string explanation_of(const Verdict& verdict) {
  const Label label = label_of(verdict.outcome, verdict.error_kind, verdict.stage, verdict.hints);
  return printable_line(explain(verdict, label), kExplanationCharacters);
}

void explain_missing(Report& report,
                     const std::map<std::pair<std::int64_t, std::string>, NoSubmission>& why) {
  for (ReportRow& row : report.rows) {
    const auto found = why.find({row.sample, row.operator_name});
    if (row.label != Label::missing || found == why.end()) continue;
    std::map<std::string, std::int64_t>& counts = report.totals.labels;
    const auto missing = counts.find(std::string(to_string(Label::missing)));
    if (missing != counts.end() && --missing->second == 0) counts.erase(missing);
    row.label = found->second.label;
    row.explanation = printable_line(found->second.explanation, kExplanationCharacters);
    ++counts[std::string(to_string(row.label))];
  }
}

Report make_report(const tools::Scorecard& scorecard, const operators::Catalog* catalog,
                   std::span<const Metric> metrics) {
  return report_of({scorecard}, catalog, metrics);
}

Result<Report> make_report(const std::vector<tools::Scorecard>& samples,
                           const operators::Catalog* catalog, std::span<const Metric> metrics) {
  if (Status alike = check_samples(samples); !alike) return fail(alike.error());
  return report_of(samples, catalog, metrics);
}

}  // namespace assay::report
