// Writes a report as a JSON object, for code that adds the report to a larger document. The text
// form is report_as_json() in server/report/text/forms.h. Pure function.
//
//   nlohmann::ordered_json document = report_json(report);
//   document.erase("operators");
#pragma once

#include <optional>

#include "base/json.h"
#include "metrics/estimate.h"
#include "server/report/model/rows.h"

namespace assay::report {

/// Returns null or an object with the members "value", "operators", "interval" and "method".
nlohmann::ordered_json estimate_json(const std::optional<metrics::Estimate>& estimate);

/// Returns the JSON form of the report with an empty array "operators": the rows of the attempts
/// are left out.
nlohmann::ordered_json report_json(const Report& report);

}  // namespace assay::report
