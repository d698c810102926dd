// Defines the command-line options for the limits of the store. The options are plain values. The
// functions must be called by the thread that parses the command line.
//
//   auto options = std::make_shared<StoreLimitOptions>();
//   add_store_options(*command, *options);
//   // After the command line is parsed:
//   Result<StoreLimits> limits = store_limits(*options);
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/store/store_limits.h"

namespace assay::server {

/// The values of the command-line options, as text. An empty text means that the option was not
/// given, so its default applies.
struct StoreLimitOptions {
  std::string job_bytes, owner_bytes, store_bytes;  // sizes in the form that bytes_from() reads
  std::string age;                           // a duration in the form that seconds_from() reads
  std::string practice_bytes, scored_bytes;  // sizes of the jobs of one caller
};

void add_store_options(CLI::App& command, StoreLimitOptions& options);

/// Returns the limits that the options set. Error: invalid_argument if a value is invalid. The
/// message names the option and the valid values.
Result<StoreLimits> store_limits(const StoreLimitOptions& options);

/// Returns the options that are not empty as command-line arguments, with which another process of
/// `assay` gets the same limits.
std::vector<std::string> arguments_of(const StoreLimitOptions& options);

}  // namespace assay::server
