// Adds `assay export run`, which writes a run into a signed bundle, and `assay export check`, which
// checks bundles.
//
//   CLI::App* group = app.add_subcommand("export", "Write submissions and verdicts for others");
//   add_export_run(*group, status);
//
// Not thread-safe: the command line is built by one thread.
#pragma once

#include <CLI/CLI.hpp>

namespace assay::server {

void add_export_run(CLI::App& group, int& status);

}  // namespace assay::server
