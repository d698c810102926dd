// How much of an operator a verdict is about: devices leave out cases, and `skipped_cases` names
// those. Pure, thread-safe.
//
//   cases_not_run({"large: too large for the interpreter", "3 hidden: too large"})  ->  4
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/job/job.h"

namespace assay::tools {

/// An entry of `skipped_cases` stands for one case, "N hidden: ..." for N.
std::int64_t cases_not_run(const std::vector<std::string>& skipped_cases);

/// "pass", or where cases were left out "pass on 3 of 7 cases (interpreter)". Of a verdict that is
/// a pass.
std::string pass_text(const sandbox::Verdict& verdict);

}  // namespace assay::tools
