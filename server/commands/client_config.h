// Writes the configuration with which an MCP client uses this server. `assay serve --print-config
// CLIENT` prints it. docs/how-to/connect-a-client.md shows each configuration, and a test compares
// the two. Pure functions.
//
//   ServerEntry entry{.command = "/opt/assay/bin/assay", .args = {"serve", "--stdio"}};
//   Result<ClientConfig> config = client_config("codex", entry);  // text, and where to put it
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::server {

/// The environment variable that holds the bearer token, so that no configuration file contains it.
inline constexpr const char* kTokenVariable = "ASSAY_TOKEN";

struct ServerEntry {
  // For stdio, the program that the client starts. `env` has the variables that the program needs,
  // because clients pass on only a part of their environment.
  std::string command;  // an absolute path
  std::vector<std::string> args;
  std::map<std::string, std::string> env;
  // For HTTP, the address of the server. It is empty for stdio.
  std::string url;
  bool token = false;  // the server requires a token
};

struct ClientConfig {
  std::string text;  // the content of the file; it ends with a newline
  /// The file that needs the text, and the client's command that does the same, if there is one.
  std::string where;
};

/// Returns the configuration of `client`: claude-code, codex, cursor, gemini, python, typescript or
/// vscode. Errors: not_found for another name, with the valid names; invalid_argument if a path is
/// not UTF-8.
Result<ClientConfig> client_config(const std::string& client, const ServerEntry& entry);

/// Returns "claude-code, codex, ...", for help texts.
std::string client_names();

}  // namespace assay::server
