// Adds `assay export dataset`, which writes sources, public verdicts and transcripts of a store as
// a dataset.
//
//   CLI::App* group = app.add_subcommand("export", "Write submissions and verdicts for others");
//   add_export_dataset(*group, status);
//
// Not thread-safe: the command line is built by one thread.
#pragma once

#include <CLI/CLI.hpp>

namespace assay::server {

void add_export_dataset(CLI::App& group, int& status);

}  // namespace assay::server
