// Result<T>: a value or an Error, the one way a function of Assay reports failure.
//
//   Result<Spec> spec = load_spec(path);
//   if (!spec) return fail(spec.error());            // pass it on
//   return fail(ErrorCode::invalid_argument, "axis 'n' is missing; valid: m, n, k");
//
// Exceptions stay at the borders to third-party code (JSON, TOML, SQLite, httplib), where they
// become an Error. A message is for a person or an agent: it says what was wrong and names what
// would have been valid.
//
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

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace assay {

enum class ErrorCode {
  invalid_argument,    // the caller's input is wrong; the message names the valid values
  not_found,           // a named thing does not exist; the message names near or valid ones
  permission_denied,   // a rule forbids it (a track, a budget, a token's scope)
  resource_exhausted,  // a named limit was reached
  unavailable,         // a device, process or file cannot be used now
  corrupt,             // data from outside failed its checks
  io,                  // a system call failed; the message carries call, path and errno
  cancelled,           // the caller asked to stop
  internal,            // a defect of Assay
};

/// Stable lower-case name, as used in JSON ("invalid_argument", ...).
std::string_view to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

/// An `io` error from a failed system call. `call` is the call with its path, e.g. "open /etc/x".
/// errno must still be that of the call: capture it at once.
inline tl::unexpected<Error> fail_errno(std::string_view call, int error_number = errno) {
  return fail(ErrorCode::io, std::string(call) + ": " + std::strerror(error_number));
}

}  // namespace assay

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
