// The exit statuses of `assay`, each with one meaning (docs/reference/cli.md lists them), and the
// message on stderr that goes with one. Thread-safe.
//
//   if (!store) return print_error("serve", kStoreUnusable, store.error().message);
#pragma once

#include <string>

#include "base/result.h"
#include "base/stderr_line.h"

namespace assay::server {

enum ExitStatus : int {
  kPass = 0,  // done; for `eval`: the submission passed
  /// `eval`: the submission is wrong; `operators lint`: a check failed; `plan diff`: the plans
  /// differ; `bench --replay`: an attempt differs from the recorded one.
  kFail = 1,
  kError = 2,           // `eval`: the submission ended in an error; `bench`: unfinished attempts
  kUsage = 64,          // bad flags or arguments
  kBadData = 65,        // a file is empty, binary or too large
  kNoInput = 66,        // a file is missing or unreadable
  kUnknownName = 67,    // unknown operator, split, agent, device, provider, run
  kUnavailable = 69,    // a known device or server cannot be used now
  kInternal = 70,       // a defect of Assay
  kPortInUse = 71,      // the address is taken or cannot be bound
  kStoreUnusable = 73,  // the store is read-only, damaged or from a newer schema
  /// `serve`: a public address without tokens, or a token file that other users can access.
  kUnsafe = 76,
  kNoCredentials = 77,  // an API key is missing
  kBadConfig = 78,      // a spec.toml or another configuration file is wrong
};

/// Prints "assay COMMAND: MESSAGE" on stderr and returns `status`.
inline int print_error(const std::string& command, int status, const std::string& message) {
  stderr_line("assay " + command + ": " + message);
  return status;
}

/// Returns kUnknownName if no device has that name, kUnavailable if the device cannot be used here.
inline int status_of_device_error(const Error& error) {
  return error.code == ErrorCode::invalid_argument || error.code == ErrorCode::not_found
             ? kUnknownName
             : kUnavailable;
}

}  // namespace assay::server
