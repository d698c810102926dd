// Writes the configuration of a client into the client's file, which keeps all other servers and
// settings. The file is replaced by one rename, so that a reader never sees half of it. A file that
// cannot be parsed is not touched. Two processes must not write the same file at a time.
//
//   Result<ClientConfig> config = client_config("cursor", entry);
//   Result<FileChange> change = write_config(".cursor/mcp.json", *config);
//
// merged_json() and merged_toml() are pure and thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "server/commands/client_config.h"

namespace assay::server {

/// The size in bytes of the largest configuration file that is read.
inline constexpr std::int64_t kMostConfigBytes = 16 << 20;

enum class FileChange {
  none,     // the file had this configuration already
  written,  // the file was created or changed
};

/// Writes `config` into `file`. Follows a symbolic link to the file. Creates the file, but not its
/// folder. Errors: corrupt if the file cannot be parsed; invalid_argument if the configuration is a
/// program, or if the file's content has no place for it; io.
Result<FileChange> write_config(const std::string& file, const ClientConfig& config);

/// Returns the JSON text `text` with the members of the JSON object `added`. Objects are merged,
/// except those that describe one server, which are replaced. Elements that an array lacks are
/// appended. An empty text counts as an empty object. Errors: corrupt if `text` is not a JSON
/// object; invalid_argument if a member has another type.
Result<std::string> merged_json(const std::string& text, const std::string& added);

/// Returns the TOML text `text`, followed by the tables of `added`. Errors: corrupt if `text` is
/// not TOML; invalid_argument if it describes the server already, but in another way.
Result<std::string> merged_toml(const std::string& text, const std::string& added);

}  // namespace assay::server
