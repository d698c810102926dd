#include "server/site/parts_json.h"

#include <string_view>

#include "server/report/model/rows.h"

namespace assay::site {
namespace {

using nlohmann::ordered_json;

std::string_view unit_name(report::Unit unit) {
  switch (unit) {
    case report::Unit::share: return "share";
    case report::Unit::error: return "error";
    case report::Unit::ratio: break;
  }
  return "ratio";
}

}  // namespace

std::string text_of_json(const ordered_json& document) {
  return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json metrics_json() {
  ordered_json metrics = ordered_json::array();
  for (const report::Metric& metric : report::all_metrics())
    metrics.push_back(
        {{"key", metric.key},
         {"title", metric.title},
         {"unit", unit_name(metric.unit)},
         {"averaged", metric.averaged},
         {"higher_is_better", metric.direction == report::Direction::higher_is_better}});
  return metrics;
}

void remove_suite_digests(ordered_json& document) {
  if (document.is_object() && document.contains("version") && document.contains("digest"))
    document["digest"] = "";
  for (ordered_json& part : document) {
    if (part.is_structured()) remove_suite_digests(part);
  }
}

}  // namespace assay::site
