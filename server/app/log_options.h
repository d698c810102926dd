// The command line options of the log: --log-level, --log-format and --log-file.
//
//   auto options = std::make_shared<LogOptions>();
//   add_log_options(*command, *options);
//   // once the command line has been read:
//   const Status started = start_log(*options);
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::server {

struct LogOptions {
  std::string level = "info";
  std::string format = "text";
  std::string file = {};  // empty: stderr
};

/// Returns the options as a command line, for another process.
std::vector<std::string> arguments_of(const LogOptions& options);
void add_log_options(CLI::App& command, LogOptions& options);

/// Errors: invalid_argument, with the valid names, or with the file that cannot be opened.
Status start_log(const LogOptions& options);

}  // namespace assay::server
