// How TritonBench would file an error: its error types, in four groups (docs/reference/verdict.md
// has the table). Pure, thread-safe.
//
//   error_type(ErrorKind::key_error)  ->  {"KeyError", "Name & Reference"}
#pragma once

#include <optional>
#include <string_view>

#include "sandbox/job/job.h"

namespace assay::tools {

struct ErrorType {
  std::string_view type;
  std::string_view group;
};

/// Nothing for `none` and for what is not the submission's doing (unsupported, cancelled, aborted,
/// device_unhealthy, internal_error).
std::optional<ErrorType> error_type(sandbox::ErrorKind kind);

}  // namespace assay::tools
