// Defines the exit statuses of `assay` (docs/reference/cli.md lists them). Also defines a function
// that prints an error message and returns a status. Thread-safe.
//
//   if (!store) return print_error("serve", kStoreUnusable, store.error().message);
#pragma once

#include <string>

#include "base/result.h"
#include "base/stderr_line.h"

namespace assay::server {

enum ExitStatus : int {
  kPass = 0,  // success; for `eval`: the submission passed
  /// For `eval`: the submission is wrong. For `operators lint`: a check failed. For `plan diff`:
  /// the plans differ. For `bench --replay`: an attempt differs from the recorded attempt.
  kFail = 1,
  /// For `eval`: the submission ended in an error. For `operators lint`: no check failed, but the
  /// checks of an operator could not be finished. For `bench`: an attempt is unfinished.
  kError = 2,
  kUsage = 64,          // invalid flags or arguments
  kBadData = 65,        // a file is empty, binary, damaged or too large
  kNoInput = 66,        // a file is missing or unreadable
  kUnknownName = 67,    // an unknown operator, split, agent, device, provider or run
  kUnavailable = 69,    // a known device or server is not usable now
  kInternal = 70,       // a defect of Assay
  kPortInUse = 71,      // the address is in use or cannot be bound
  kStoreUnusable = 73,  // the store is read-only, damaged or from a newer schema
  /// For `serve`: the address is public and there are no tokens, or other users can access the
  /// token file.
  kUnsafe = 76,
  kNoCredentials = 77,  // an API key is missing
  kBadConfig = 78,      // a spec.toml or another configuration file is invalid
};

/// Prints "assay COMMAND: MESSAGE" on stderr and returns `status`.
inline int print_error(const std::string& command, int status, const std::string& message) {
  stderr_line("assay " + command + ": " + message);
  return status;
}

/// Returns the exit status for an error of sandbox::make_device(). It is kUnknownName if no device
/// has the given name. Otherwise the device exists, but it cannot be used on this machine, and the
/// status is kUnavailable.
inline int status_of_device_error(const Error& error) {
  return error.code == ErrorCode::invalid_argument || error.code == ErrorCode::not_found
             ? kUnknownName
             : kUnavailable;
}

}  // namespace assay::server
