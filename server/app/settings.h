// Reads the configuration files of Assay. A file is TOML. Its top level has the settings of the
// installation, and a table for each command, whose keys are the names of the command's options:
//   python = "/opt/torch/bin/python"     # as ASSAY_PYTHON
//   [serve]
//   http = "127.0.0.1:8000"              # as --http
//   device = ["cuda:0", "cuda:1"]
//
// A value of the command line wins over a file, and so does a variable of the environment. Of two
// files with the same key, the first in settings_places() wins.
//
//   const Result<Settings> settings = Settings::load(settings_places());
//
// Settings are not changed after load(), and are thread-safe. export_variables() is not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::server {

/// The size in bytes of the largest file that is read.
inline constexpr std::int64_t kMostSettingsBytes = 1 << 20;

/// The variable that names the only configuration file to read.
inline constexpr const char* kSettingsVariable = "ASSAY_CONFIG";

/// A setting of the top level, and the variable that has the same meaning.
struct InstallSetting {
  std::string_view key;
  const char* variable;
};
/// Returns the settings of the top level. Secrets, such as ASSAY_TOKEN, are not among them.
const std::vector<InstallSetting>& install_settings();

struct SettingValue {
  std::vector<std::string> texts;  // more than one only for an option that can be repeated
  std::string origin;              // "FILE:LINE"
};

class Settings {
 public:
  /// Reads these files, the most important first. A file that is missing is skipped, except the one
  /// that ASSAY_CONFIG names. Errors: not_found, io; corrupt if a file is not TOML;
  /// invalid_argument if a key of the top level is unknown or a value is no string, number, truth
  /// value or list of these. The message has file, line and the valid keys.
  static Result<Settings> load(const std::vector<std::filesystem::path>& files);

  /// Returns the values of the top level, by key.
  const std::map<std::string, SettingValue>& install() const { return install_; }
  /// Returns the options of each command: "serve", "operators lint".
  const std::map<std::string, std::map<std::string, SettingValue>>& commands() const {
    return commands_;
  }
  const std::vector<std::filesystem::path>& read_files() const { return read_files_; }

 private:
  friend class SettingsReader;
  std::map<std::string, SettingValue> install_;
  std::map<std::string, std::map<std::string, SettingValue>> commands_;
  std::vector<std::filesystem::path> read_files_;
};

/// Returns the configuration files that are read, the most important first: the file that
/// ASSAY_CONFIG names, or assay/assay.toml in XDG_CONFIG_HOME and in the folders of
/// XDG_CONFIG_DIRS, and /etc/assay/assay.toml.
std::vector<std::filesystem::path> settings_places();

/// Sets the variables of the top level's settings, except those that are set already. Call it once,
/// before the first thread starts.
void export_variables(const Settings& settings);

}  // namespace assay::server
