// CommandEntry describes one command: its options, its arguments and its sub-commands. The table is
// made from the command line itself, which tests/server/commands/cli_page_test.cc compares with
// docs/reference/cli.md. So the manual page, the completion and the page agree. Pure functions,
// thread-safe.
//
//   const CommandEntry assay = command_table(app);
//   for (const CommandEntry* command : all_commands(assay)) show(command->path);
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace assay::server {

struct CommandOption {
  std::vector<std::string> names;  // "--store", "-h"; empty: an argument that stands alone
  std::string value;               // the name of its value, such as "TEXT"; empty: a flag
  std::string help;
  std::vector<std::string> choices = {};  // empty: any value
  bool required = false;
};

struct CommandEntry {
  std::string name;  // "dataset"
  std::string path;  // the names after the program: "export dataset"; empty: the program
  std::string help;
  std::vector<CommandOption> options;
  std::vector<CommandOption> arguments;  // in their order; `value` is the argument's name
  std::vector<CommandEntry> commands;
};

CommandEntry command_table(const CLI::App& app);

/// Returns the entry and all entries below it, in their order.
std::vector<const CommandEntry*> all_commands(const CommandEntry& entry);

}  // namespace assay::server
