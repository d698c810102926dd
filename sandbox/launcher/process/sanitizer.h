// Runs NVIDIA Compute Sanitizer around a launcher. The first launcher builds its jail and then runs
// the sanitizer inside the jail. The sanitizer starts a second launcher, and the second launcher
// serves the socket as any launcher does. When the sanitizer has ended, the first launcher sends
// the sanitizer's report over the socket. So a report is about the same plan on the same kind of
// inputs as an ordinary launch. The sanitizer patches submitted binaries only inside the jail.
//
//   const SanitizerCommand command{.sanitizer = "/usr/local/cuda/bin/compute-sanitizer",
//                                  .tool = SanitizerTool::racecheck,
//                                  .launcher = "/usr/bin/assay-launcher",
//                                  .arguments = {"--socket-fd", "5", "--confined"}};
//   Result<Sanitized> ended = run_sanitizer(command);
//
// The report is XML; sandbox/sanitize reads it. Not thread-safe: one thread starts and waits.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/wire/sanitized.h"
#include "sandbox/wire/sanitizer_tool.h"

namespace assay::sandbox {

/// The maximum number of records that a tool writes. Each thread that accesses memory outside of a
/// buffer causes one record.
inline constexpr int kMaxSanitizerRecords = 100;

/// The number of bytes that memcheck reserves after each allocation. An access to these bytes is a
/// finding.
inline constexpr std::size_t kSanitizerPaddingBytes = 4096;

struct SanitizerCommand {
  std::string sanitizer;  // absolute path
  SanitizerTool tool = SanitizerTool::memcheck;
  std::string launcher;
  std::vector<std::string> arguments = {};  // of the launcher
};

/// Returns the command line that starts the launcher under the sanitizer, with `report` as the file
/// for the report.
std::vector<std::string> sanitizer_words(const SanitizerCommand& command,
                                         const std::string& report);

/// Returns the folders outside of /usr that the sanitizer needs inside the jail. `sanitizer` is a
/// path without symbolic links.
std::vector<std::string> sanitizer_folders(const std::string& sanitizer);

/// Runs the sanitizer to its end. Its text goes to this process's standard output. Errors: io if
/// the sanitizer cannot be started, or if its report is longer than kMaxSanitizerReportBytes.
Result<Sanitized> run_sanitizer(const SanitizerCommand& command);

}  // namespace assay::sandbox
