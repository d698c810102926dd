#include "server/commands/shell/command_table.h"

#include "base/text.h"

namespace assay::server {
namespace {

constexpr const char* kOnlyInTests = "--without";

/// Returns the values of CLI::IsMember, which CLI11 appends to the name of the type:
/// "TEXT:{models,all}".
std::vector<std::string> choices_in(const std::string& type) {
  const std::size_t begin = type.find('{');
  const std::size_t end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos || end <= begin + 1) return {};
  return split(type.substr(begin + 1, end - begin - 1), ",");
}

CommandOption described(const CLI::Option& option) {
  CommandOption found;
  for (const std::string& name : option.get_snames()) found.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) found.names.push_back("--" + name);
  found.help = option.get_description();
  found.required = option.get_required();
  if (found.names.empty()) {
    found.value = option.get_name(true);
  } else if (option.get_items_expected_max() > 0) {
    const std::string type = option.get_type_name();
    found.value = type.substr(0, type.find_first_of(": "));
    found.choices = choices_in(type);
  }
  return found;
}

CommandEntry entry_of(const CLI::App& command, const std::string& path) {
  CommandEntry entry;
  entry.name = command.get_name();
  entry.path = path;
  entry.help = command.get_description();
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_name() == kOnlyInTests) continue;
    CommandOption found = described(*option);
    (found.names.empty() ? entry.arguments : entry.options).push_back(std::move(found));
  }
  for (const CLI::App* inner : command.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string below = (path.empty() ? "" : path + " ") + inner->get_name();
    entry.commands.push_back(entry_of(*inner, below));
  }
  return entry;
}

void collect(const CommandEntry& entry, std::vector<const CommandEntry*>& all) {
  all.push_back(&entry);
  for (const CommandEntry& inner : entry.commands) collect(inner, all);
}

}  // namespace

CommandEntry command_table(const CLI::App& app) { return entry_of(app, ""); }

std::vector<const CommandEntry*> all_commands(const CommandEntry& entry) {
  std::vector<const CommandEntry*> all;
  collect(entry, all);
  return all;
}

}  // namespace assay::server
