// Names the outcome of a verdict for human readers: it says how many cases a pass covers, and gives
// an error the name that TritonBench uses. Pure functions, thread-safe.
//
//   pass_text(verdict);  // "pass on 3 of 7 cases (interpreter)"
//   error_type(sandbox::ErrorKind::key_error)->type;  // "KeyError", in "Name & Reference"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/job/job.h"

namespace assay::tools {

/// Returns the number of cases that the device did not run, including hidden cases.
std::int64_t cases_not_run(const std::vector<sandbox::SkippedCases>& skipped_cases);

/// Returns the name of a pass: "pass", or "pass on 3 of 7 cases (interpreter)" if the device could
/// not run all cases.
std::string pass_text(const sandbox::Verdict& verdict);

struct ErrorType {
  std::string_view type;
  std::string_view group;
};

/// Returns the error's type and group in TritonBench's classification (docs/reference/verdict.md
/// has the table). Returns nothing for `none`, and for errors that the submission did not cause:
/// unsupported, cancelled, aborted, device_unhealthy, internal_error.
std::optional<ErrorType> error_type(sandbox::ErrorKind kind);

}  // namespace assay::tools
