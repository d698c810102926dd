// Scorecards as rows, totals and metrics: everything a report says, computed once, before any
// format is chosen. Pure functions.
//
//   Report report = make_report(scorecard);           // or several: samples of the same agent,
//   model, track and suite std::string text = report_as_table(report);       // report_formats.h
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "metrics/error_groups.h"
#include "metrics/summary.h"
#include "operators/catalog.h"
#include "server/report/model/label.h"
#include "server/report/model/stages.h"
#include "tools/model/services.h"

namespace assay::server {

/// How a submission resembles the oracle (metrics/codebleu.py).
struct Similarity {
  double ngram = 0, weighted_ngram = 0, syntax = 0, dataflow = 0, codebleu = 0;
};

struct ReportRow {
  std::string operator_name, split;
  std::string family;  // "" and 0: the operator is gone from the catalog, or there was none to ask
  std::int64_t difficulty = 0;
  std::int64_t sample = 1;  // which of the runs
  std::string language;     // of the source; empty without a verdict
  Label label = Label::missing;
  std::string outcome;                  // "pass" | "fail" | "error" | "none"
  std::string error_kind;               // "" without a verdict, "none" on a pass
  std::string error_type, error_group;  // TritonBench's; empty without an error
  std::optional<FailureStage>
      death;  // where it died; of a pass, and where nothing was judged, nowhere
  std::optional<double> max_error;  // largest over the cases, scaled as the spec's tolerance says
  std::optional<double> perf;
  std::optional<double> speed_up, speed_up_pytorch, efficiency,
      peak_efficiency;                   // metrics::Sample says what
  std::optional<Similarity> similarity;  // only when it was asked for
  std::string tier, tier_reason;
  std::string explanation;  // one line
  std::int64_t cases = 0, skipped_cases = 0;
  std::int64_t tool_calls = 0;
  double sandbox_ms = 0;  // all stages of the graded job but waiting
  std::string job;
};

struct ReportTotals {
  std::int64_t operators = 0;
  std::int64_t attempts = 0;                         // operators x samples
  std::int64_t submitted = 0, passed = 0, slow = 0;  // of the attempts
  double pass_at_1 = 0;
  std::array<double, 2> pass_at_1_interval{};  // Wilson, 95 %
  std::optional<double> perf_at_1;
  std::string no_perf_reason;  // why perf_at_1 is absent
  double call_accuracy = 0;  // TritonBench: it ran to its end, right or wrong; over the whole suite
  double execution_accuracy = 0;               // TritonBench: and the results are right
  std::map<std::string, std::int64_t> labels;  // "pass" -> 8
  std::map<std::string, std::map<std::string, std::int64_t>>
      errors;  // TritonBench group -> type -> count
  std::int64_t tool_calls = 0;
  double sandbox_ms = 0;
  std::optional<double> cost_per_pass_rate, cost_per_perf,
      cost_per_solved;  // US dollars (metrics/cost.h); absent without a cost
  std::optional<metrics::Estimate> similarity;  // mean CodeBLEU, where it was asked for
};

using Groups = std::map<std::string, metrics::Summary>;

struct Report {
  tools::RunInfo run;                // the first one
  std::vector<std::string> samples;  // handles of all runs, in the order of their sample numbers
  std::vector<tools::Usage> sample_usage;   // of each of them
  tools::Usage usage;                       // of all runs; the cost is known where that of each is
  bool scripted = false;                    // no model: shown as such and never ranked
  std::vector<std::string> devices;         // that the graded jobs ran on
  std::vector<std::string> missing_layers;  // of the sandbox, over all graded jobs
  std::vector<ReportRow> rows;              // by operator, then sample
  ReportTotals totals;
  metrics::Summary all;
  Groups by_split, by_family, by_difficulty;
  std::vector<metrics::PassPoint> pass_at_k;      // one point where there is one sample
  std::vector<metrics::GroupCount> error_groups;  // TritonBench's four, of all attempts
  std::vector<StageCount> stages;                 // where attempts died
};

/// Of one run. Without a catalog, families and difficulties are unknown.
Report make_report(const tools::Scorecard& scorecard, const operators::Catalog* catalog = nullptr);

/// Of runs that are samples of one configuration. invalid_argument when they differ in agent,
/// model, track or operators, or there is none.
Result<Report> make_report(const std::vector<tools::Scorecard>& samples,
                           const operators::Catalog* catalog);

}  // namespace assay::server
