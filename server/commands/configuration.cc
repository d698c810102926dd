#include "server/commands/configuration.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "server/app/exit_status.h"
#include "server/app/workspace.h"

namespace assay::server {
namespace {

// Separates the values of an option that can be repeated. No value contains it.
constexpr char kBetweenValues = '\x1f';
// No option of a configuration: one shows a text, and the other exists only in builds for tests.
constexpr const char* kNoSettings[] = {"help", "without"};

std::vector<CLI::App*> commands_in(CLI::App& app) {
  return app.get_subcommands([](CLI::App*) { return true; });
}

struct Command {
  std::string names;  // "operators lint"
  CLI::App* app;
};

/// Returns the commands in `app`, and the commands in them.
std::vector<Command> all_commands(CLI::App& app) {
  std::vector<Command> found;
  for (CLI::App* command : commands_in(app)) {
    found.push_back({command->get_name(), command});
    for (Command& inner : all_commands(*command))
      found.push_back({command->get_name() + " " + inner.names, inner.app});
  }
  return found;
}

/// Returns the command with these names, such as "operators lint". Returns nullptr if there is
/// none.
CLI::App* find_command(CLI::App& app, const std::string& names) {
  CLI::App* at = &app;
  for (const std::string& name : split(names, " ")) {
    const std::vector<CLI::App*> inner = commands_in(*at);
    const auto found = std::find_if(inner.begin(), inner.end(), [&](const CLI::App* command) {
      return command->get_name() == name;
    });
    if (found == inner.end()) return nullptr;
    at = *found;
  }
  return at;
}

/// Returns the name of an option in a configuration, or "" if a configuration cannot set it.
std::string key_of(const CLI::Option& option) {
  const std::vector<std::string>& names = option.get_lnames();
  if (names.empty() || std::count(std::begin(kNoSettings), std::end(kNoSettings), names.front()))
    return {};
  return names.front();
}

std::vector<std::string> keys_of(const CLI::App& command) {
  std::vector<std::string> keys;
  for (const CLI::Option* option : command.get_options()) {
    if (std::string key = key_of(*option); !key.empty()) keys.push_back(std::move(key));
  }
  return keys;
}

CLI::Option* find_option(CLI::App& command, const std::string& key) {
  const std::vector<CLI::Option*> options =
      command.get_options([&](const CLI::Option* option) { return key_of(*option) == key; });
  return options.empty() ? nullptr : options.front();
}

/// Sets the default of an option. The command line still replaces it.
Status set_default(CLI::Option& option, const std::string& key, const SettingValue& value) {
  const bool repeats = option.get_items_expected_max() > 1;
  if (value.texts.size() != 1 && !repeats)
    return fail(ErrorCode::invalid_argument, value.origin + ": `" + key + "` takes one value");
  try {
    if (repeats) option.delimiter(kBetweenValues);
    option.run_callback_for_default();
    const bool is_flag = !option.get_fnames().empty();
    // A flag such as --no-host-tier sets its variable to the opposite of the value.
    option.default_val(is_flag ? option.get_flag_value(key, value.texts.front())
                               : join(value.texts, std::string(1, kBetweenValues)));
    if (repeats) option.delimiter('\0');
    option.required(false);
  } catch (const CLI::Error& error) {
    return fail(ErrorCode::invalid_argument, value.origin + ": `" + key + "`: " + error.what());
  }
  return {};
}

/// Returns whether the value turns a flag off, or is empty. Such a value is no choice.
bool is_off(const CLI::Option& option, const SettingValue& value) {
  const bool is_flag = option.get_items_expected_max() == 0;
  return std::all_of(value.texts.begin(), value.texts.end(), [&](const std::string& text) {
    return text.empty() || (is_flag && text == "false");
  });
}

/// Gives the options of one command the values of its table.
Status apply_table(CLI::App& command, const std::string& names,
                   const std::map<std::string, SettingValue>& table, const GivenOptions& given) {
  std::map<const CLI::Option*, const SettingValue*> chosen;
  for (const auto& [key, value] : table) {
    CLI::Option* option = find_option(command, key);
    if (option == nullptr)
      return fail(ErrorCode::invalid_argument, value.origin + ": `" + key +
                                                   "` is no option of `assay " + names +
                                                   "`; valid keys: " + join(keys_of(command)));
    const std::set<CLI::Option*> rivals = option->get_excludes();
    if (std::any_of(rivals.begin(), rivals.end(), [&](const CLI::Option* rival) {
          return given.contains({names, key_of(*rival)});
        }))
      continue;
    ASSAY_RETURN_IF_ERROR(set_default(*option, key, value));
    if (is_off(*option, value)) continue;
    for (const CLI::Option* rival : rivals) {
      if (const auto other = chosen.find(rival); other != chosen.end())
        return fail(ErrorCode::invalid_argument,
                    value.origin + ": `" + key + "` excludes `" + key_of(*rival) + "` of " +
                        other->second->origin + "; remove one of them");
    }
    chosen.emplace(option, &value);
    for (CLI::Option* other : command.get_options({})) other->remove_needs(option);
  }
  return {};
}

std::string joined(const std::vector<std::string>& texts) { return join(texts, ", "); }

/// One line of `config show`.
struct ShownValue {
  std::string table, key, value, origin;
};

std::vector<ShownValue> install_values(const Settings& settings) {
  std::vector<ShownValue> values;
  const Result<Paths> paths = find_paths();
  for (const InstallSetting& setting : install_settings()) {
    const char* now = std::getenv(setting.variable);
    const auto in_file = settings.install().find(std::string(setting.key));
    ShownValue value{"", std::string(setting.key), now == nullptr ? "" : now, "default"};
    if (in_file != settings.install().end() && value.value == in_file->second.texts.front())
      value.origin = in_file->second.origin;
    else if (!value.value.empty())
      value.origin = setting.variable;
    else if (paths && setting.key == "python")
      value.value = paths->python.string();
    else if (paths && setting.key == "root")
      value.value = paths->root.string();
    else if (paths && setting.key == "state_dir")
      value.value = paths->state.string();
    values.push_back(std::move(value));
  }
  return values;
}

/// Adds the options of a command, and of the commands in it. Without `all`, only those that a file
/// sets.
void add_values(CLI::App& command, const std::string& names, const Settings& settings, bool all,
                std::vector<ShownValue>& values) {
  const auto table = settings.commands().find(names);
  for (const CLI::Option* option : command.get_options()) {
    const std::string key = key_of(*option);
    if (key.empty()) continue;
    if (table != settings.commands().end()) {
      if (const auto found = table->second.find(key); found != table->second.end()) {
        values.push_back({names, key, joined(found->second.texts), found->second.origin});
        continue;
      }
    }
    if (all) values.push_back({names, key, option->get_default_str(), "default"});
  }
  for (CLI::App* inner : commands_in(command))
    add_values(*inner, names + " " + inner->get_name(), settings, all, values);
}

nlohmann::json settings_json(const std::vector<std::filesystem::path>& places,
                             const Settings& settings, const std::vector<ShownValue>& values) {
  nlohmann::json files = nlohmann::json::array();
  for (const std::filesystem::path& place : places) {
    const auto& read = settings.read_files();
    files.push_back({{"path", place.string()},
                     {"read", std::find(read.begin(), read.end(), place) != read.end()}});
  }
  nlohmann::json list = nlohmann::json::array();
  for (const ShownValue& value : values)
    list.push_back({{"table", value.table},
                    {"key", value.key},
                    {"value", value.value},
                    {"origin", value.origin}});
  return {{"files", files}, {"values", list}};
}

struct ConfigShowOptions {
  bool all = false;
  bool as_json = false;
};

int show_settings(CLI::App& app, const Settings& settings, const ConfigShowOptions& options) {
  std::vector<ShownValue> values = install_values(settings);
  for (CLI::App* command : commands_in(app))
    add_values(*command, command->get_name(), settings, options.all, values);
  const nlohmann::json shown_values = settings_json(settings_places(), settings, values);
  if (options.as_json) {
    std::printf("%s\n", shown_values.dump(2).c_str());
    return kPass;
  }
  for (const nlohmann::json& file : shown_values["files"])
    std::printf("# %s %s\n", file["read"].get<bool>() ? "read:    " : "missing: ",
                file["path"].get_ref<const std::string&>().c_str());
  std::string table;
  for (const ShownValue& value : values) {
    if (value.table != table) std::printf("\n[%s]\n", value.table.c_str());
    table = value.table;
    std::printf("%s = %s  # %s\n", value.key.c_str(), nlohmann::json(value.value).dump().c_str(),
                value.origin.c_str());
  }
  return kPass;
}

}  // namespace

GivenOptions given_options(CLI::App& app, int argc, const char* const* argv) {
  app.parse_complete_callback([] { throw CLI::Success(); });  // ends before the command runs
  try {
    app.parse(argc, argv);
  } catch (const CLI::Error&) {
    // The parser that runs the command reports an error.
  }
  GivenOptions given;
  for (const Command& command : all_commands(app)) {
    for (const CLI::Option* option : command.app->get_options()) {
      if (option->count() > 0) given.emplace(command.names, key_of(*option));
    }
  }
  return given;
}

Status apply_settings(CLI::App& app, const Settings& settings, const GivenOptions& given) {
  for (const auto& [names, table] : settings.commands()) {
    CLI::App* command = find_command(app, names);
    if (command == nullptr)
      return fail(
          ErrorCode::invalid_argument,
          (table.empty() ? "" : table.begin()->second.origin + ": ") + "[" + names +
              "] names no command; valid: " +
              join(commands_in(app), ", ", [](const CLI::App* one) { return one->get_name(); }));
    ASSAY_RETURN_IF_ERROR(apply_table(*command, names, table, given));
  }
  return {};
}

Status configure(CLI::App& app, Settings& settings, const GivenOptions& given) {
  ASSAY_TRY(read, Settings::load(settings_places()));
  settings = std::move(read);
  export_variables(settings);
  return apply_settings(app, settings, given);
}

void add_config(CLI::App& app, int& status, const Settings& settings) {
  auto options = std::make_shared<ConfigShowOptions>();
  CLI::App* command = app.add_subcommand("config", "Show the configuration (assay.toml)");
  command->require_subcommand(1);
  CLI::App* show = command->add_subcommand(
      "show", "Print each value of the configuration and where it came from");
  show->add_flag("--all", options->all, "also the options that no file sets, with their defaults");
  show->add_flag("--json", options->as_json, "print JSON");
  show->callback(
      [options, &app, &status, &settings] { status = show_settings(app, settings, *options); });
}

}  // namespace assay::server
