// Turns scorecards into rows, totals and metrics. Everything that a report shows is computed here
// once; the forms only format it. Pure functions.
//
//   Report report = make_report(scorecard);
//   std::string text = report_as_table(report);  // server/report/text/forms.h
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metrics/error_groups.h"
#include "metrics/summary.h"
#include "operators/catalog.h"
#include "server/report/model/label.h"
#include "server/report/model/metrics.h"
#include "server/report/model/stages.h"
#include "tools/model/services.h"

namespace assay::report {

/// How closely the text of a submission resembles the oracle (metrics/codebleu.py).
struct Similarity {
  double ngram = 0, weighted_ngram = 0, syntax = 0, dataflow = 0, codebleu = 0;
};

/// One attempt: an operator and a sample.
struct ReportRow {
  std::string operator_name, split;
  std::string family;           // "" if there is no catalog, or the operator has left it
  std::int64_t difficulty = 0;  // 1 to 5; 0 if it is unknown
  std::int64_t sample = 1;      // the number of the run, from 1
  std::string language;         // of the source; "" without a verdict
  Label label = Label::missing;
  std::string outcome;                  // "pass", "fail", "error" or "none"
  std::string error_kind;               // "" without a verdict, "none" on a pass
  std::string error_type, error_group;  // TritonBench's; "" without an error
  /// The stage where a failed attempt ended; absent for a pass, and if nothing was judged.
  std::optional<FailureStage> failure;
  /// The judgement that metrics are computed from (server/report/model/metrics.h); may be null.
  std::shared_ptr<const sandbox::Verdict> verdict;
  std::optional<Similarity> similarity;  // only with --codebleu
  std::string tier, tier_reason;
  std::string explanation;  // one line
  std::int64_t cases = 0, skipped_cases = 0;
  std::int64_t tool_calls = 0;
  double sandbox_ms = 0;  // all stages of the graded job except the queue
  std::string job;
};

struct ReportTotals {
  std::int64_t operators = 0;
  std::int64_t attempts = 0;                         // operators x samples
  std::int64_t submitted = 0, passed = 0, slow = 0;  // attempts
  double pass_at_1 = 0;
  std::array<double, 2> pass_at_1_interval{};  // Wilson, 95 %
  std::optional<double> perf_at_1;
  std::string no_perf_reason;     // why perf_at_1 is absent
  double call_accuracy = 0;       // TritonBench: share that ran to the end, right or wrong
  double execution_accuracy = 0;  // TritonBench: share of right ones
  std::map<std::string, std::int64_t> labels;  // "pass" -> 8
  /// TritonBench's group -> type -> attempts.
  std::map<std::string, std::map<std::string, std::int64_t>> errors;
  std::int64_t tool_calls = 0;
  double sandbox_ms = 0;
  /// US dollars (metrics/measures.h); absent if the cost is not known.
  std::optional<double> cost_per_pass_rate, cost_per_perf, cost_per_solved;
  std::optional<metrics::Estimate> similarity;  // mean CodeBLEU; only with --codebleu
};

using Groups = std::map<std::string, metrics::Summary>;

struct Report {
  tools::RunInfo run;                      // the first of the runs
  std::vector<std::string> samples;        // handles of all runs, by sample number
  std::vector<tools::Usage> sample_usage;  // of each run, in the same order
  tools::Usage usage;                      // sum; the cost is known if that of each run is
  AnsweredBy answered_by = AnsweredBy::model;
  std::vector<std::string> devices;         // where the graded jobs ran
  std::vector<std::string> missing_layers;  // sandbox layers that at least one graded job lacked
  std::span<const Metric> metrics = all_metrics();
  std::vector<ReportRow> rows;  // by operator, then sample
  ReportTotals totals;
  metrics::Summary all;
  Groups by_split, by_family, by_difficulty;
  std::vector<metrics::PassPoint> pass_at_k;      // for growing k, up to the number of samples
  std::vector<metrics::GroupCount> error_groups;  // TritonBench's four, over all attempts
  std::vector<StageCount> stages;                 // where failed attempts ended

  /// Returns true if no model answered. The report says so and is never ranked.
  bool scripted() const { return answered_by != AnsweredBy::model; }
};

/// Returns the report of one run. Families and difficulties are unknown without a catalog.
/// `metrics` must outlive the report.
Report make_report(const tools::Scorecard& scorecard, const operators::Catalog* catalog = nullptr,
                   std::span<const Metric> metrics = all_metrics());

/// Returns the report of runs that are samples of one configuration. Error: invalid_argument, if
/// the runs differ in agent, model, track or operators, or if there are none.
Result<Report> make_report(const std::vector<tools::Scorecard>& samples,
                           const operators::Catalog* catalog,
                           std::span<const Metric> metrics = all_metrics());

}  // namespace assay::report
