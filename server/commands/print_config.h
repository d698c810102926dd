// Implements `assay serve --print-config CLIENT`, which prints the configuration with which a
// client uses the server, or with --config-file writes it into the client's file. Reads the
// environment, so no other thread may change the environment meanwhile.
//
//   ServeOptions options;
//   options.print_config = "codex";
//   const int status = print_config(options);  // an exit status
#pragma once

#include "server/commands/serve_options.h"

namespace assay::server {

/// Prints or writes the configuration of the client `options.print_config`. Returns the exit status
/// of the command.
int print_config(const ServeOptions& options);

}  // namespace assay::server
