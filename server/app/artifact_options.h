// The command line options for the limits of artifacts in the store. Values; the functions belong
// to the thread that parses the command line.
//
//   auto options = std::make_shared<ArtifactOptions>();
//   add_artifact_options(*command, *options);
//   // After the command line is parsed:
//   Result<ArtifactLimits> limits = artifact_limits(*options);
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/store/artifact_limits.h"

namespace assay::server {

/// The options as they were given. An empty text stands for the default.
struct ArtifactOptions {
  std::string job_bytes, owner_bytes, store_bytes;  // bytes_from() reads them
  std::string age;                                  // seconds_from() reads it
};

void add_artifact_options(CLI::App& command, ArtifactOptions& options);

/// Error: invalid_argument. It names the option and the valid values.
Result<ArtifactLimits> artifact_limits(const ArtifactOptions& options);

/// Returns the options that were given, as command-line arguments.
std::vector<std::string> arguments_of(const ArtifactOptions& options);

}  // namespace assay::server
