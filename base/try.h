// Forwards an error to the caller, so that a function that takes several steps reads as its steps.
//
//   Result<Report> read_report(const Path& path) {
//     ASSAY_RETURN_IF_ERROR(check_path(path));          // a Status
//     ASSAY_TRY(bytes, read_file_bytes(path));          // a Result; `bytes` is its value
//     return parse_report(bytes);
//   }
//
// Both are for a function that returns a Result or a Status. Where a caller adds to the message, it
// tests the Result itself.
#pragma once

#include <utility>

#include "base/result.h"

/// Evaluates an expression of type Result once. On an error, returns that error from the function.
/// Otherwise `name` is a reference to the value, which lives to the end of the block.
#define ASSAY_TRY(name, ...)                                                      \
  auto name##_or_error = (__VA_ARGS__);                                           \
  if (!name##_or_error) return ::assay::fail(std::move(name##_or_error).error()); \
  auto& name = *name##_or_error

/// Evaluates an expression of type Status (or a Result whose value is not needed) once. On an
/// error, returns that error from the function.
#define ASSAY_RETURN_IF_ERROR(...)                                                  \
  do {                                                                              \
    auto status_or_error = (__VA_ARGS__);                                           \
    if (!status_or_error) return ::assay::fail(std::move(status_or_error).error()); \
  } while (false)
