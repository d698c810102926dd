// What an MCP client needs to know to use this server: the text for its configuration file, as
// `assay serve --print-config CLIENT` prints it. docs/how-to/connect-a-client.md shows each, and a
// test keeps the two equal. Pure functions, thread-safe.
//
//   ServerEntry entry{.command = "/opt/assay/bin/assay", .args = {"serve", "--stdio"}};
//   auto config = client_config("codex", entry);          // config->text goes to stdout,
//   config->where to stderr
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::server {

/// The variable in which a client keeps its bearer token, so that no configuration file holds one.
inline constexpr const char* kTokenVariable = "ASSAY_TOKEN";

struct ServerEntry {
  // over stdio: what the client starts
  std::string command;  // absolute
  std::vector<std::string> args;
  std::map<std::string, std::string> env;  // clients pass on little of their own environment
  // over HTTP, when not empty: where the server listens
  std::string url;
  bool token = false;  // it asks for one
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
