// Adds `assay completion SHELL` and `assay man-page`, which print what packages install: the
// completion of the command line, and the manual page.
//
//   add_shell(app, status);
//
// Not thread-safe: the command line is built by one thread.
#pragma once

#include <CLI/CLI.hpp>

namespace assay::server {

/// `app` is the program. It must outlive the parsing of the command line.
void add_shell(CLI::App& app, int& status);

}  // namespace assay::server
