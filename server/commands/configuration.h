// Gives the options of the commands the values of the configuration files, and implements `assay
// config show`. Call these functions before the command line is parsed. Not thread-safe.
//
//   add_config(app, status, settings);
//   const Status ready = configure(app, settings);
#pragma once

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "server/app/settings.h"

namespace assay::server {

/// Makes the values of the files the defaults of the options. Error: invalid_argument if a table
/// names no command, a key names no option of its command, or an option refuses the value. The
/// message has file and line, and the valid names.
Status apply_settings(CLI::App& app, const Settings& settings);

/// Reads the configuration files into `settings`, and gives their values to the options and to this
/// process's variables. Errors: those of Settings::load() and of apply_settings().
Status configure(CLI::App& app, Settings& settings);

/// Adds the command `config`. `settings` must exist until the command has run.
void add_config(CLI::App& app, int& status, const Settings& settings);

}  // namespace assay::server
