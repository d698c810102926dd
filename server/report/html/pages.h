// Writes a report, or a comparison of several, as one HTML page that needs no other file. Pure
// functions.
#pragma once

#include <string>

#include "server/report/model/compare.h"
#include "server/report/model/rows.h"

namespace assay::report {

std::string report_as_html(const Report& report);
std::string comparison_as_html(const Comparison& comparison);

}  // namespace assay::report
