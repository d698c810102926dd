// Generates the configuration with which an MCP client connects to this server. `assay serve
// --print-config CLIENT` prints it. docs/how-to/connect-a-client.md shows each configuration, and a
// test checks that the document and this code agree. Pure functions.
//
//   ServerEntry entry{.command = "/opt/assay/bin/assay", .args = {"serve", "--stdio"}};
//   Result<ClientConfig> config = client_config("codex", entry);  // config->text goes to a file
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::server {

/// The environment variable that contains the bearer token, so that no configuration file has to
/// contain it.
inline constexpr const char* kTokenVariable = "ASSAY_TOKEN";

struct ServerEntry {
  // For a server over stdio: the program that the client starts. A client passes only some
  // variables of its environment on to the program. Therefore `env` contains the variables that the
  // program needs.
  std::string command;  // an absolute path
  std::vector<std::string> args;
  std::map<std::string, std::string> env;
  // For a server over HTTP: the server's URL. Empty for stdio.
  std::string url;
  bool token = false;  // the server requires a token
};

/// What kind of text a configuration is.
enum class ConfigForm {
  json,     // a JSON object that lists servers by name
  toml,     // TOML with a table for each server
  program,  // the source of a program, which is a file of its own
};

struct ClientConfig {
  std::string text;  // the content of the file; it ends with a newline
  /// A sentence that says into which file the text belongs. If a command of the client can write
  /// the same configuration, the sentence names this command too.
  std::string where;
  ConfigForm form = ConfigForm::json;
};

/// Returns the configuration of `client`, one of client_names(). Errors: not_found if `client` is
/// unknown, and the message lists the valid names; invalid_argument if a path is not UTF-8, or if
/// the client cannot connect to a URL.
Result<ClientConfig> client_config(const std::string& client, const ServerEntry& entry);

/// Returns "claude-code, codex, ...", for use in help texts.
std::string client_names();

}  // namespace assay::server
