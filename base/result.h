// Result<T>: a value or an Error, the one way a function of Assay reports failure.
//
//   Result<Spec> spec = load_spec(path);
//   if (!spec) return fail(spec.error());            // pass it on
//   return fail(ErrorCode::invalid_argument, "axis 'n' is missing; valid: m, n, k");
//
// Exceptions stay at the borders to third-party code (JSON, TOML, SQLite, httplib), where they
// become an Error. A message is for a person or an agent: it says what was wrong and names what
// would have been valid.
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
