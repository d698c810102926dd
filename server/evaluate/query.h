// Parses the query of a URL. Pure function, thread-safe.
//
//   auto query = parse_query("ids=job_1%2Cjob_2&wait_ms=5", {"ids", "wait_ms"});
//   show((*query)["ids"]);  // "job_1,job_2"
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::server {

/// Returns the parameters by name. A parameter that is given twice has both values, separated by a
/// comma. Error: invalid_argument if a name is not in `valid`, or if the text is malformed.
Result<std::map<std::string, std::string>> parse_query(std::string_view query,
                                                       const std::vector<std::string>& valid);

}  // namespace assay::server
