#include "server/app/log_options.h"

#include "base/log.h"

namespace assay::server {

std::vector<std::string> arguments_of(const LogOptions& options) {
  std::vector<std::string> arguments = {"--log-level", options.level, "--log-format",
                                        options.format};
  if (!options.file.empty()) arguments.insert(arguments.end(), {"--log-file", options.file});
  return arguments;
}

void add_log_options(CLI::App& command, LogOptions& options) {
  command
      .add_option("--log-level", options.level,
                  std::string("least severe lines of the log: ") + log::kLevelNames)
      ->capture_default_str();
  command.add_option("--log-format", options.format, log::kFormatNames)->capture_default_str();
  command.add_option("--log-file", options.file, "append the log to this file (default: stderr)");
}

Status start_log(const LogOptions& options) {
  const auto level = log::level_named(options.level);
  if (!level)
    return fail(ErrorCode::invalid_argument,
                "unknown --log-level '" + options.level + "'; valid: " + log::kLevelNames);
  const auto format = log::format_named(options.format);
  if (!format)
    return fail(ErrorCode::invalid_argument,
                "unknown --log-format '" + options.format + "'; valid: " + log::kFormatNames);
  return log::configure({.level = *level, .format = *format, .file = options.file});
}

}  // namespace assay::server
