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

/// The version of the JSON form, in its field "format". It is raised when a field changes meaning.
inline constexpr int kReportFormat = 2;

std::string report_as_table(const Report& report);
std::string report_as_json(const Report& report);
/// RFC 4180, one line per operator and sample.
std::string report_as_csv(const Report& report);

/// The table that sets pairs of agent and model side by side. It ranks nothing: rows keep their
/// order, and intervals show how little a difference may mean.
std::string comparison_table(const std::vector<ComparisonRow>& rows);
/// {"format": 2, "comparison": [a report each]}
std::string comparison_as_json(const Comparison& comparison);
/// The lines of all reports under one head.
std::string comparison_as_csv(const Comparison& comparison);

}  // namespace assay::report
