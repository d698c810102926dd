// Adds `assay export`: a group of sub-commands that write submissions, verdicts and operators for
// other programs.
//
//   add_export(app, status);  // `assay export flashinfer-trace`, `assay export dataset`, ...
//
// Not thread-safe: the command line is built by one thread.
#pragma once

#include <CLI/CLI.hpp>

namespace assay::server {

void add_export(CLI::App& app, int& status);

}  // namespace assay::server
