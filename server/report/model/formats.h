// The four forms of a report. What a submission caused (messages, names) is escaped for each of
// them. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "server/report/model/rows.h"

namespace assay::server {

inline constexpr int kReportFormat =
    2;  // of the JSON form; raised when a field changes its meaning

enum class ReportFormat { table, json, csv, html };
std::optional<ReportFormat> report_format_from(const std::string& text);

std::string report_as_table(const Report& report);  // report_table.cc
std::string report_as_json(const Report& report);   // report_json.cc
std::string report_as_csv(const Report& report);  // report_csv.cc: RFC 4180, one line per operator
std::string report_as_html(
    const Report& report);  // report_html.cc: one page that needs nothing else

std::string format_report(const Report& report, ReportFormat format);

}  // namespace assay::server
