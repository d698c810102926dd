// Gives the options of the commands the values of the configuration files, and implements `assay
// config show`. Call these functions before the command line is parsed. Not thread-safe.
//
//   add_config(app, status, settings);
//   const Status ready = configure(app, settings, given_options(other_app, argc, argv));
//
// A value of a file counts like an option of the command line: it meets the needs of other options.
// A file is read for every call, so a call that excludes the value goes without it.
#pragma once

#include <CLI/CLI.hpp>
#include <set>
#include <string>
#include <utility>

#include "base/result.h"
#include "server/app/settings.h"

namespace assay::server {

/// The options that a command line gives: the command ("operators lint") and the option's name.
using GivenOptions = std::set<std::pair<std::string, std::string>>;

/// Returns the options that the command line gives, as far as it can be parsed. `app` has all
/// commands, but none runs. Use another object to run the command.
GivenOptions given_options(CLI::App& app, int argc, const char* const* argv);

/// Makes the values of the files the defaults of the options. A value is left out if a given option
/// excludes it. Error: invalid_argument if a table names no command, a key names no option of its
/// command, an option refuses the value, or two values of the files exclude each other. The message
/// has file and line, and the valid names.
Status apply_settings(CLI::App& app, const Settings& settings, const GivenOptions& given = {});

/// Reads the configuration files into `settings`, and gives their values to the options and to this
/// process's variables. Errors: those of Settings::load() and of apply_settings().
Status configure(CLI::App& app, Settings& settings, const GivenOptions& given);

/// Adds the command `config`. `settings` must exist until the command has run.
void add_config(CLI::App& app, int& status, const Settings& settings);

}  // namespace assay::server
