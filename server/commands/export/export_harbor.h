// Adds `assay export harbor`, which writes operators as task folders for Harbor.
//
//   CLI::App* group = app.add_subcommand("export", "Write submissions and verdicts for others");
//   add_export_harbor(*group, status);
//
// Not thread-safe: the command line is built by one thread.
#pragma once

#include <CLI/CLI.hpp>

namespace assay::server {

void add_export_harbor(CLI::App& group, int& status);

}  // namespace assay::server
