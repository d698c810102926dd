#include "server/report/model/formats.h"

namespace assay::server {

std::optional<ReportFormat> report_format_from(const std::string& text) {
  if (text == "table") return ReportFormat::table;
  if (text == "json") return ReportFormat::json;
  if (text == "csv") return ReportFormat::csv;
  if (text == "html") return ReportFormat::html;
  return std::nullopt;
}

std::string format_report(const Report& report, ReportFormat format) {
  switch (format) {
    case ReportFormat::table: return report_as_table(report);
    case ReportFormat::json: return report_as_json(report);
    case ReportFormat::csv: return report_as_csv(report);
    case ReportFormat::html: return report_as_html(report);
  }
  return report_as_table(report);
}

}  // namespace assay::server
