// The tables on the page of a report, in HTML; document.cc puts them in order. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "server/report/model/rows.h"

namespace assay::report {

std::string totals_table(const Report& report);
std::string group_table(const Report& report);
/// The error types of TritonBench that occurred; "" if there was no error.
std::string error_table(const Report& report);
/// The stages where failed attempts ended; "" if no attempt failed.
std::string stage_table(const Report& report);
std::string operator_table(const Report& report);
/// "Where this comes from": agent, model, device, runs, with names in full.
std::string origin_table(const Report& report);

}  // namespace assay::report
