// Defines and checks the options of `assay serve --http`. A public address requires a token file,
// and a token file must be private. The functions are pure, except that http_options() reads files
// and prints errors.
//
//   Result<Address> address = parse_address("127.0.0.1:8080");  // host "127.0.0.1", port 8080
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/mcp/core/server.h"
#include "server/mcp/http/http_server.h"

namespace assay::server {

struct Address {
  std::string host;
  int port = 0;
  bool loopback = false;  // true: only clients on this machine can connect
};

/// Parses an address such as "127.0.0.1:8080", "localhost:0" or "[::]:8080". Error:
/// invalid_argument for any other form, and the message shows the valid form.
Result<Address> parse_address(const std::string& text);

struct HttpFlags {
  std::string address;                   // HOST:PORT; empty: no HTTP server
  std::string token_file;                // empty: every client may use every tool
  std::string tls_certificate, tls_key;  // PEM files; both are set, or none
  std::vector<std::string> allowed_hosts;
  double rate_limit = -1;  // requests per second; 0: no limit; -1: kDefaultRate if there are tokens
};

/// Adds the options to `command`. `flags` must outlive the app.
void add_http_flags(CLI::App& command, HttpFlags& flags);

/// Checks the flags and reads the files that they name. On an error, prints the reason, sets
/// `status` and returns nullopt.
std::optional<mcp::HttpOptions> http_options(const HttpFlags& flags, int& status);

/// Returns the scopes that a token can have. tools/model/services.h says which scope each tool
/// needs.
const std::vector<std::string>& token_scopes();

}  // namespace assay::server
