// Writes a report, or a comparison of several reports, in three forms: as a table for the terminal,
// as JSON and as CSV. Messages and names that come from a submission are escaped for each form.
// Pure functions.
//
//   std::fputs(report_as_table(make_report(scorecard)).c_str(), stdout);
#pragma once

#include <string>
#include <vector>

#include "server/report/model/compare.h"
#include "server/report/model/rows.h"

namespace assay::report {

/// The version of the JSON form, which is its member "format". The version is increased when a
/// member changes its meaning.
inline constexpr int kReportFormat = 2;

std::string report_as_table(const Report& report);
std::string report_as_json(const Report& report);
/// Returns CSV (RFC 4180) with one line for each sample of each operator.
std::string report_as_csv(const Report& report);

/// Returns a table with one row for each pair of an agent and a model. The rows stay in the given
/// order and are not ranked. The table shows intervals, because a difference may be due to chance.
std::string comparison_table(const std::vector<ComparisonRow>& rows);
/// Returns {"format": 2, "comparison": [...]} with one report for each configuration.
std::string comparison_as_json(const Comparison& comparison);
/// Returns the CSV lines of all reports, below a single header line.
std::string comparison_as_csv(const Comparison& comparison);

}  // namespace assay::report
