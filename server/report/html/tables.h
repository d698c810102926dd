// The tables of a report's page; report_html.cc has its order. Markup; pure functions.
#pragma once

#include <string>
#include <vector>

#include "server/report/model/rows.h"

namespace assay::report {

std::string totals_table(const Report& report);
std::string group_table(const Report& report);
/// TritonBench's types that occurred; empty where none did.
std::string error_table(const Report& report);
/// Where attempts died; empty where none did.
std::string stage_table(const Report& report);
std::string operator_table(const Report& report);
/// "Where this comes from": agent, model, device, runs, with names in full.
std::string origin_table(const Report& report);

/// "a, b, c"
std::string listed(const std::vector<std::string>& names);

}  // namespace assay::report
