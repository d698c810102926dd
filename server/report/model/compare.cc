#include "server/report/model/compare.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace assay::report {
namespace {

bool same_configuration(const tools::RunInfo& one, const tools::RunInfo& other) {
  return one.request.agent == other.request.agent && one.request.model == other.request.model &&
         one.request.track == other.request.track && one.suite_id == other.suite_id;
}

std::string named(const tools::RunInfo& run) {
  return run.handle + " (operators: " + std::to_string(run.operators.size()) + ")";
}

/// Returns the names of the operators, sorted.
std::vector<std::string> operators_of(const tools::Scorecard& card) {
  std::vector<std::string> names;
  for (const tools::OperatorScore& score : card.operators) names.push_back(score.operator_name);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

Status check_alike(const std::vector<tools::Scorecard>& runs) {
  if (runs.empty()) return fail(ErrorCode::invalid_argument, "a comparison needs runs");
  for (const tools::Scorecard& run : runs) {
    if (operators_of(run) == operators_of(runs.front())) continue;
    return fail(ErrorCode::invalid_argument, "runs are compared over the same operators; " +
                                                 named(run.run) + " differs from " +
                                                 named(runs.front().run));
  }
  return {};
}

/// Returns, for each operator, the share of the samples that are right.
std::map<std::string, double> shares_of(const Report& report) {
  std::map<std::string, double> shares;
  const auto samples = static_cast<double>(report.samples.size());
  for (const ReportRow& row : report.rows)
    shares[row.operator_name] += row.outcome == "pass" ? 1 / samples : 0;
  return shares;
}

}  // namespace

bool is_one_configuration(const std::vector<tools::Scorecard>& runs) {
  return std::all_of(runs.begin(), runs.end(), [&runs](const tools::Scorecard& run) {
    return same_configuration(run.run, runs.front().run);
  });
}

bool has_several_tracks(const Comparison& comparison) {
  return std::any_of(
      comparison.reports.begin(), comparison.reports.end(), [&](const Report& report) {
        return report.run.request.track != comparison.reports.front().run.request.track;
      });
}

bool has_several_suites(const Comparison& comparison) {
  std::vector<SuiteId> suites;
  for (const Report& report : comparison.reports)
    suites.insert(suites.end(), report.suites.begin(), report.suites.end());
  return have_several_digests(suites);
}

bool have_same_operators(const tools::RunInfo& one, const tools::RunInfo& other) {
  return sorted(one.operators) == sorted(other.operators);
}

Result<Comparison> make_comparison(const std::vector<tools::Scorecard>& runs,
                                   const operators::Catalog* catalog) {
  if (Status alike = check_alike(runs); !alike) return fail(alike.error());
  std::vector<std::vector<tools::Scorecard>> configurations;
  for (const tools::Scorecard& run : runs) {
    const auto found = std::find_if(configurations.begin(), configurations.end(),
                                    [&run](const std::vector<tools::Scorecard>& known) {
                                      return same_configuration(known.front().run, run.run);
                                    });
    if (found == configurations.end()) {
      configurations.push_back({run});
    } else {
      found->push_back(run);
    }
  }
  Comparison comparison;
  for (const std::vector<tools::Scorecard>& samples : configurations) {
    Result<Report> report = make_report(samples, catalog);
    if (!report) return fail(report.error());
    if (!comparison.reports.empty() &&
        comparison.reports.front().all.baseline != report->all.baseline)
      return fail(ErrorCode::invalid_argument,
                  "the runs of a comparison have Perf of one baseline; run " + report->run.handle +
                      " has another one than run " + comparison.reports.front().run.handle);
    comparison.reports.push_back(std::move(*report));
  }
  return comparison;
}

std::optional<metrics::Estimate> pass_difference(const Report& base, const Report& report) {
  const std::map<std::string, double> shares = shares_of(base);
  std::vector<double> differences;
  for (const auto& [name, share] : shares_of(report)) {
    const auto found = shares.find(name);
    if (found != shares.end()) differences.push_back(share - found->second);
  }
  return metrics::estimate(differences);
}

ComparisonRow comparison_of(const Report& report) {
  ComparisonRow row{report.run.request.agent,
                    report.run.request.model,
                    static_cast<std::size_t>(report.totals.submitted),
                    static_cast<std::size_t>(report.totals.attempts),
                    report.all.pass_at_1,
                    report.all.perf_at_1,
                    report.usage,
                    report.scripted(),
                    report.totals.passed,
                    std::string(tools::to_string(report.run.request.track)),
                    report.all.baseline,
                    join(report.suites, ", ", text_of)};
  return row;
}

ComparisonRow comparison_of(const std::string& agent, const std::string& model,
                            const std::vector<metrics::OperatorSamples>& suite,
                            const tools::Usage& usage) {
  const metrics::Summary summary = metrics::summarise(suite);
  return {agent,
          model,
          0,
          static_cast<std::size_t>(summary.samples),
          summary.pass_at_1,
          summary.perf_at_1,
          usage,
          parse_model_label(model).answered_by != AnsweredBy::model,
          summary.right,
          {},
          summary.baseline,
          {}};
}

}  // namespace assay::report
