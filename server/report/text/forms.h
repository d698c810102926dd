// Writes a report, or a comparison of several, as text: for the terminal, as JSON and as CSV. Text
// that a submission caused (messages, names) is escaped for each form. Pure functions.
//
//   std::fputs(report_as_table(make_report(scorecard)).c_str(), stdout);
#pragma once

#include <string>
#include <vector>

#include "server/report/model/compare.h"
#include "server/report/model/rows.h"

namespace assay::report {

/// The version of the JSON form, in its field "format". It grows when a field changes its meaning.
inline constexpr int kReportFormat = 2;

std::string report_as_table(const Report& report);
std::string report_as_json(const Report& report);
/// Returns CSV (RFC 4180) with one line for each operator and sample.
std::string report_as_csv(const Report& report);

/// Returns a table with one row for each pair of agent and model. It ranks nothing: rows keep their
/// order, and intervals show how little a difference may mean.
std::string comparison_table(const std::vector<ComparisonRow>& rows);
/// Returns {"format": 2, "comparison": [...]} with a report for each configuration.
std::string comparison_as_json(const Comparison& comparison);
/// Returns the lines of all reports under one head.
std::string comparison_as_csv(const Comparison& comparison);

}  // namespace assay::report
