// How much of an operator a verdict covers. A device leaves out cases that it cannot run, and
// `skipped_cases` lists them. Pure, thread-safe.
//
//   std::int64_t left_out = cases_not_run(verdict.skipped_cases);
//   std::string text = pass_text(verdict);  // "pass on 3 of 7 cases (interpreter)"
//
// How TritonBench would file an error: its error types, in four groups (docs/reference/verdict.md
// has the table). Pure, thread-safe.
//
//   error_type(ErrorKind::key_error)  ->  {"KeyError", "Name & Reference"}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/job/job.h"

namespace assay::tools {

/// The number of cases that the device did not run, hidden ones included.
std::int64_t cases_not_run(const std::vector<sandbox::SkippedCases>& skipped_cases);

/// The outcome of a verdict that is a pass: "pass", or "pass on 3 of 7 cases (interpreter)" when
/// the device left out cases.
std::string pass_text(const sandbox::Verdict& verdict);

struct ErrorType {
  std::string_view type;
  std::string_view group;
};

/// Nothing for `none` and for what is not the submission's doing (unsupported, cancelled, aborted,
/// device_unhealthy, internal_error).
std::optional<ErrorType> error_type(sandbox::ErrorKind kind);

}  // namespace assay::tools
