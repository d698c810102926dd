// Defines Result<T>, which is a value or an Error. A function of Assay that says why it failed
// returns a Result.
//
//   ASSAY_RETURN_IF_ERROR(check_path(path));  // forwards the Error of a Status
//   ASSAY_TRY(text, read_text(path));         // `text` is the value of a Result
//   if (text.empty()) return fail(ErrorCode::corrupt, path + " is empty");
//
// A caller that adds to the message tests the Result itself instead of using a macro. Code that
// calls a third-party library (JSON, TOML, SQLite) catches the library's exceptions and turns each
// into an Error. A message is for a person or an agent: it says what is wrong and what would be
// valid.
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
  not_found,           // there is no thing of this name; the message suggests similar names
  permission_denied,   // a rule (of a track, a budget, a token's scope) forbids the call
  resource_exhausted,  // a named limit was reached
  unavailable,         // a device, process or file cannot be used now
  corrupt,             // data from outside failed its checks
  io,                  // a system call failed; the message has the call, the path and errno
  cancelled,           // the caller asked to stop
  preempted,           // other work that comes first ended this work, which can be tried again
  unsupported,         // this device cannot do it, but another could
  reference,           // the reference of a check is wrong; the message says where
  internal,            // a defect of Assay
};

/// Returns the stable lower-case name that JSON uses, such as "invalid_argument".
inline std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::permission_denied: return "permission_denied";
    case ErrorCode::resource_exhausted: return "resource_exhausted";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::corrupt: return "corrupt";
    case ErrorCode::io: return "io";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::preempted: return "preempted";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::reference: return "reference";
    case ErrorCode::internal: return "internal";
  }
  return "internal";
}

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

/// Returns an `io` error for a failed system call. `call` names the system call and its path, such
/// as "open /etc/x". Call this function directly after the system call, before errno changes.
inline tl::unexpected<Error> fail_errno(std::string_view call, int error_number = errno) {
  return fail(ErrorCode::io, std::string(call) + ": " + std::strerror(error_number));
}

}  // namespace assay

/// Evaluates an expression of type Result once. If the Result is an error, the calling function
/// returns the error. Otherwise `name` becomes a reference to the Result's value, which lives until
/// the end of the block.
#define ASSAY_TRY(name, ...)                                                      \
  auto name##_or_error = (__VA_ARGS__);                                           \
  if (!name##_or_error) return ::assay::fail(std::move(name##_or_error).error()); \
  auto& name = *name##_or_error

/// Evaluates an expression of type Status once. If the Status is an error, the calling function
/// returns the error. The expression may also be a Result whose value is not needed.
#define ASSAY_RETURN_IF_ERROR(...)                                                  \
  do {                                                                              \
    auto status_or_error = (__VA_ARGS__);                                           \
    if (!status_or_error) return ::assay::fail(std::move(status_or_error).error()); \
  } while (false)
