// Writes the configuration with which an MCP client uses this server, as `assay serve
// --print-config CLIENT` prints it. docs/how-to/connect-a-client.md shows each, and a test compares
// the two. Pure functions, thread-safe.
//
//   ServerEntry entry{.command = "/opt/assay/bin/assay", .args = {"serve", "--stdio"}};
//   auto config = client_config("codex", entry);  // config->text, and config->where to put it
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::server {

/// The environment variable that holds the bearer token, so that no configuration file contains it.
inline constexpr const char* kTokenVariable = "ASSAY_TOKEN";

struct ServerEntry {
  // Over stdio: the program that the client starts.
  std::string command;  // absolute
  std::vector<std::string> args;
  std::map<std::string, std::string> env;  // clients pass on only a part of their environment
  // Over HTTP: the address of the server; empty for stdio.
  std::string url;
  bool token = false;  // the server requires a token
};

struct ClientConfig {
  std::string text;  // of the file, with a line feed at its end
  std::string
      where;  // which file that is, and the command that does the same, if the client has one
};

/// `client`: claude-code, codex, cursor, gemini, python, typescript or vscode. Any other is an
/// error that lists them.
Result<ClientConfig> client_config(const std::string& client, const ServerEntry& entry);

/// For --help: "claude-code, codex, ...".
std::string client_names();

}  // namespace assay::server
