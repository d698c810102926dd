#include "server/app/settings.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "server/app/files.h"

namespace assay::server {

namespace fs = std::filesystem;
namespace {

constexpr const char* kName = "assay/assay.toml";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string keys_of_install() {
  return join(install_settings(), ", ", [](const InstallSetting& one) { return one.key; });
}

/// Returns the text that the command line would have for a value. Returns nullopt if no option has
/// such a value.
std::optional<std::string> option_text(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto truth = node.value_exact<bool>()) return *truth ? "true" : "false";
  if (const auto whole = node.value_exact<std::int64_t>()) return std::to_string(*whole);
  if (const auto number = node.value_exact<double>()) {
    std::ostringstream text;
    text << *number;
    return text.str();
  }
  return std::nullopt;
}

std::optional<std::vector<std::string>> option_texts(const toml::node& node) {
  std::vector<std::string> texts;
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& entry : *list) {
      const std::optional<std::string> text = option_text(entry);
      if (!text) return std::nullopt;
      texts.push_back(*text);
    }
    return texts;
  }
  const std::optional<std::string> text = option_text(node);
  if (!text) return std::nullopt;
  texts.push_back(*text);
  return texts;
}

}  // namespace

const std::vector<InstallSetting>& install_settings() {
  static const std::vector<InstallSetting> settings = {{"cuda_toolkit", "ASSAY_CUDA_TOOLKIT"},
                                                       {"llm_base_url", "ASSAY_LLM_BASE_URL"},
                                                       {"python", "ASSAY_PYTHON"},
                                                       {"root", "ASSAY_ROOT"},
                                                       {"state_dir", "ASSAY_STATE_DIR"}};
  return settings;
}

/// Adds one file to Settings. A value that another file has set already stays.
class SettingsReader {
 public:
  SettingsReader(Settings& settings, fs::path file) : settings_(settings), file_(std::move(file)) {}

  Status read(const toml::table& document) {
    for (const auto& [key, node] : document) {
      const std::string name(key.str());
      if (const toml::table* command = node.as_table()) {
        ASSAY_RETURN_IF_ERROR(read_command(name, *command));
        continue;
      }
      const auto& known = install_settings();
      if (std::none_of(known.begin(), known.end(),
                       [&](const InstallSetting& one) { return one.key == name; }))
        return fail(ErrorCode::invalid_argument,
                    place(node) + ": unknown key `" + name + "`; valid keys: " + keys_of_install() +
                        ", and a table for each command, such as [serve]");
      ASSAY_TRY(value, value_of(name, node));
      if (value.texts.size() != 1)
        return fail(ErrorCode::invalid_argument, place(node) + ": `" + name + "` is no string");
      settings_.install_.emplace(name, std::move(value));
    }
    return {};
  }

 private:
  Status read_command(const std::string& command, const toml::table& table) {
    settings_.commands_.try_emplace(command);
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (const toml::table* inner = node.as_table()) {
        ASSAY_RETURN_IF_ERROR(read_command(command + " " + name, *inner));
        continue;
      }
      ASSAY_TRY(value, value_of(name, node));
      settings_.commands_[command].emplace(name, std::move(value));
    }
    return {};
  }

  Result<SettingValue> value_of(const std::string& key, const toml::node& node) const {
    std::optional<std::vector<std::string>> texts = option_texts(node);
    if (!texts)
      return fail(ErrorCode::invalid_argument,
                  place(node) + ": the value of `" + key +
                      "` is no string, number, true, false or list of these");
    return SettingValue{std::move(*texts), place(node)};
  }

  std::string place(const toml::node& node) const {
    return file_.string() + ":" + std::to_string(node.source().begin.line);
  }

  Settings& settings_;
  fs::path file_;
};

Result<Settings> Settings::load(const std::vector<fs::path>& files) {
  Settings settings;
  const bool is_named = !variable(kSettingsVariable).empty();
  for (const fs::path& file : files) {
    std::error_code error;
    if (!is_named && !fs::exists(file, error)) continue;
    ASSAY_TRY(text, read_file_bytes(file.string(), kMostSettingsBytes, "a configuration"));
    toml::table document;
    try {
      document = toml::parse(text);
    } catch (const toml::parse_error& wrong) {
      return fail(ErrorCode::corrupt, file.string() + ":" +
                                          std::to_string(wrong.source().begin.line) + ": " +
                                          std::string(wrong.description()));
    }
    ASSAY_RETURN_IF_ERROR(SettingsReader(settings, file).read(document));
    settings.read_files_.push_back(file);
  }
  return settings;
}

std::vector<fs::path> settings_places() {
  if (const std::string file = variable(kSettingsVariable); !file.empty()) return {file};
  std::vector<fs::path> places;
  if (const std::string folder = variable("XDG_CONFIG_HOME"); !folder.empty())
    places.push_back(fs::path(folder) / kName);
  else if (const std::string home = variable("HOME"); !home.empty())
    places.push_back(fs::path(home) / ".config" / kName);
  const std::string folders = variable("XDG_CONFIG_DIRS");
  for (const std::string& folder : split(folders.empty() ? "/etc/xdg" : folders, ":"))
    places.push_back(fs::path(folder) / kName);
  places.push_back(fs::path("/etc") / kName);
  return places;
}

void export_variables(const Settings& settings) {
  for (const InstallSetting& setting : install_settings()) {
    const auto found = settings.install().find(std::string(setting.key));
    if (found != settings.install().end() && variable(setting.variable).empty())
      ::setenv(setting.variable, found->second.texts.front().c_str(), 1);
  }
}

}  // namespace assay::server
