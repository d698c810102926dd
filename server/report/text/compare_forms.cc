#include <nlohmann/json.hpp>

#include "server/report/model/compare.h"
#include "server/report/model/formats.h"

namespace assay::server {

std::string comparison_as_json(const Comparison& comparison) {
  using nlohmann::ordered_json;
  ordered_json root = {{"format", kReportFormat}, {"comparison", ordered_json::array()}};
  for (const Report& report : comparison.reports)
    root["comparison"].push_back(ordered_json::parse(report_as_json(report)));
  return root.dump(2) + "\n";
}

std::string comparison_as_csv(const Comparison& comparison) {
  std::string text;
  for (const Report& report : comparison.reports) {
    const std::string lines = report_as_csv(report);
    text += text.empty() ? lines : lines.substr(lines.find('\n') + 1);
  }
  return text;
}

}  // namespace assay::server
