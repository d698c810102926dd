// A scorecard as rows and totals: everything a report says, computed once, before any format is chosen. Pure functions.
//
//   Report report = make_report(scorecard);
//   std::string text = report_as_table(report);       // report_formats.h
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/cli/report_label.h"
#include "tools/services.h"

namespace assay::server {

struct ReportRow {
  std::string operator_name, split;
  Label label = Label::missing;
  std::string outcome;                  // "pass" | "fail" | "error" | "none"
  std::string error_kind;               // "" without a verdict, "none" on a pass
  std::string error_type, error_group;  // TritonBench's; empty without an error
  std::optional<double> max_error;      // largest over the cases, scaled as the spec's tolerance says
  std::optional<double> perf;
  std::string tier, tier_reason;
  std::string explanation;  // one line
  std::int64_t cases = 0, skipped_cases = 0;
  std::int64_t tool_calls = 0;
  double sandbox_ms = 0;  // all stages of the graded job
  std::string job;
};

struct ReportTotals {
  std::int64_t operators = 0, submitted = 0, passed = 0, slow = 0;
  double pass_at_1 = 0;
  std::array<double, 2> pass_at_1_interval{};  // Wilson, 95 %
  std::optional<double> perf_at_1;
  std::string no_perf_reason;                                         // why perf_at_1 is absent
  double call_accuracy = 0;                                           // TritonBench: it ran to its end, right or wrong; over the whole suite
  double execution_accuracy = 0;                                      // TritonBench: and the results are right
  std::map<std::string, std::int64_t> labels;                         // "pass" -> 8
  std::map<std::string, std::map<std::string, std::int64_t>> errors;  // TritonBench group -> type -> count
  std::int64_t tool_calls = 0;
  double sandbox_ms = 0;
};

struct Report {
  tools::RunInfo run;
  tools::Usage usage;
  bool scripted = false;                    // no model: shown as such and never ranked
  std::vector<std::string> devices;         // that the graded jobs ran on
  std::vector<std::string> missing_layers;  // of the sandbox, over all graded jobs
  std::vector<ReportRow> rows;
  ReportTotals totals;
};

Report make_report(const tools::Scorecard& scorecard);

/// 95 % Wilson score interval of `successes` out of `trials`; {0, 1} without trials.
std::array<double, 2> wilson_interval(std::int64_t successes, std::int64_t trials);

}  // namespace assay::server
