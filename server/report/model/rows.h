// Computes rows, totals and metrics of a report from scorecards. Everything that a report shows is
// computed here, once. The code that writes a report as text, JSON, CSV or data of pages only
// formats these values. Pure functions.
//
//   Report report = make_report(scorecard);
//   std::string text = report_as_table(report);  // declared in server/report/text/forms.h
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "metrics/error_groups.h"
#include "metrics/summary.h"
#include "operators/catalog.h"
#include "server/report/model/label.h"
#include "server/report/model/metrics.h"
#include "server/report/model/stages.h"
#include "tools/model/services.h"

namespace assay::report {

/// The similarity between the text of a submission and the oracle (metrics/codebleu.py).
struct Similarity {
  double ngram = 0, weighted_ngram = 0, syntax = 0, dataflow = 0, codebleu = 0;
};

/// One attempt, which is one sample of one operator.
struct ReportRow {
  std::string operator_name, split;
  std::string family;  // "" if there is no catalog, or the catalog no longer has the operator
  std::int64_t difficulty = 0;  // from 1 to 5; 0 if unknown
  std::int64_t sample = 1;      // the number of the run, counted from 1
  std::string language;         // the language of the source; "" if there is no verdict
  Label label = Label::missing;
  std::string outcome;                  // "pass", "fail", "error" or "none"
  std::string error_kind;               // "" if there is no verdict; "none" if it is a pass
  std::string error_type, error_group;  // TritonBench's classification; "" if there is no error
  /// The stage at which a failed attempt ended. Absent if the attempt passed, or if nothing was
  /// judged.
  std::optional<FailureStage> failure;
  /// The verdict with only the parts that clients may see (tools/model/public_verdict.h). Metrics
  /// are computed from this verdict. Null if there is no verdict.
  std::shared_ptr<const sandbox::Verdict> verdict;
  std::optional<Similarity> similarity;  // set only with --codebleu
  std::string tier, tier_reason;
  std::string explanation;  // one line of text
  std::int64_t cases = 0, skipped_cases = 0;
  std::int64_t tool_calls = 0;
  double sandbox_ms = 0;  // the time of all stages of the graded job except the queue
  std::string job;
  SuiteId suite_id;  // the suite that judged the attempt; that of the run if there is no verdict
};

struct ReportTotals {
  std::int64_t operators = 0;
  std::int64_t attempts = 0;  // the number of operators times the number of samples
  std::int64_t submitted = 0, passed = 0, slow = 0;  // numbers of attempts
  double pass_at_1 = 0;
  std::array<double, 2> pass_at_1_interval{};  // the 95 % Wilson interval
  std::optional<double> perf_at_1;             // relative to Report::all.baseline
  /// The mean generalisation (metrics.h) over the right attempts of a scored run. Absent for
  /// practice, or if too few attempts have times.
  std::optional<double> generalisation;
  std::string no_perf_reason;  // the reason why perf_at_1 is absent
  /// The share of attempts that ran to the end, right or wrong (a metric of TritonBench).
  double call_accuracy = 0;
  double execution_accuracy = 0;  // the share of right attempts (a metric of TritonBench)
  /// The number of attempts by label, for example "pass" -> 8.
  std::map<std::string, std::int64_t> labels;
  /// The number of attempts for each of TritonBench's groups of errors and, in a group, for each
  /// type of error.
  std::map<std::string, std::map<std::string, std::int64_t>> errors;
  std::int64_t tool_calls = 0;
  double sandbox_ms = 0;
  /// Costs in US dollars (metrics/measures.h). Absent if the cost is not known.
  std::optional<double> cost_per_pass_rate, cost_per_perf, cost_per_solved;
  std::optional<metrics::Estimate> similarity;  // the mean CodeBLEU; set only with --codebleu
};

using Groups = std::map<std::string, metrics::Summary>;

struct Report {
  tools::RunInfo run;                // the first run
  std::vector<std::string> samples;  // the handles of all runs, by sample number
  /// Where the verdicts of runs were imported from, by handle. A run that was judged here is not in
  /// it. make_report() leaves it empty, because scorecards do not know it.
  std::map<std::string, std::string> imported;
  std::vector<tools::Usage> sample_usage;  // the usage of each run, in the same order
  tools::Usage usage;  // the sum over the runs; its cost is known if every run's cost is known
  AnsweredBy answered_by = AnsweredBy::model;
  std::vector<std::string> devices;  // the devices that ran the graded jobs
  /// The suites that judged the attempts, without duplicates. Several suites mean that the
  /// operators changed while the run was going on; then each form of the report says so, and shows
  /// the suite of each attempt.
  std::vector<SuiteId> suites;
  /// The isolation layers of the sandbox that were missing for at least one graded job.
  std::vector<std::string> missing_layers;
  std::span<const Metric> metrics = all_metrics();
  std::vector<ReportRow> rows;  // sorted by operator, then by sample
  ReportTotals totals;
  metrics::Summary all;
  Groups by_split, by_family, by_difficulty;
  Groups by_suite;  // by the text of the suite; empty if one suite judged all attempts
  /// The same metrics for the files of the benchmark from which the operators were imported, as the
  /// benchmark itself counts: an answer is right if it is right for all operators of a file. Absent
  /// if an operator's file is not known.
  std::optional<metrics::Summary> files;
  std::vector<metrics::PassPoint> pass_at_k;  // the values for k from 1 up to the number of samples
  std::vector<metrics::GroupCount> error_groups;  // TritonBench's four groups, over all attempts
  std::vector<StageCount> stages;                 // the stages at which failed attempts ended

  /// Returns true if no model answered. The report then says so, and is never ranked.
  bool scripted() const { return answered_by != AnsweredBy::model; }
};

/// The sentence that a report or a comparison shows if verdicts are from suites with different
/// digests.
inline constexpr const char* kSuitesNote =
    "Suites differ: these verdicts are from different cases or references, so do not compare them.";

/// Returns one line that says why a verdict is as it is, for a reader who does not see the verdict.
std::string explanation_of(const sandbox::Verdict& verdict);

/// Why an attempt has no submission, as the journal of its bench knows it.
struct NoSubmission {
  Label label = Label::missing;
  std::string explanation;
};

/// Sets the labels of attempts without a submission. The key is the sample and the operator.
void explain_missing(Report& report,
                     const std::map<std::pair<std::int64_t, std::string>, NoSubmission>& why);

/// Returns the report of one run. Without a catalog, families and difficulties are unknown.
/// `metrics` must outlive the report.
Report make_report(const tools::Scorecard& scorecard, const operators::Catalog* catalog = nullptr,
                   std::span<const Metric> metrics = all_metrics());

/// Returns the report of several runs that are samples of one configuration. Errors:
/// invalid_argument if the runs differ in agent, model, track, suite or operators; invalid_argument
/// if there are no runs.
Result<Report> make_report(const std::vector<tools::Scorecard>& samples,
                           const operators::Catalog* catalog,
                           std::span<const Metric> metrics = all_metrics());

}  // namespace assay::report
