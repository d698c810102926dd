// The options of `assay serve --http`, and their checks: a public address needs a token file, and a
// token file must be private. Pure functions, except that http_options() reads files and prints
// errors.
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
  bool loopback = false;  // only this machine can reach it
};

/// Accepts "127.0.0.1:8080", "localhost:0", "[::]:8080". Error: invalid_argument; it shows the
/// form.
Result<Address> parse_address(const std::string& text);

struct HttpFlags {
  std::string address;                   // HOST:PORT; empty: no HTTP
  std::string token_file;                // empty: every client may use every tool
  std::string tls_certificate, tls_key;  // PEM files; both or none
  std::vector<std::string> allowed_hosts;
  double rate_limit = -1;  // requests a second; 0: no limit; -1: kDefaultRate if there are tokens
};

/// Adds the options to `command`. `flags` must outlive the app.
void add_http_flags(CLI::App& command, HttpFlags& flags);

/// Checks the flags and reads the files that they name. On an error it prints the reason, sets
/// `status` and returns nullopt.
std::optional<mcp::HttpOptions> http_options(const HttpFlags& flags, int& status);

/// Returns the scopes that a token can have. tools/model/services.h says which tools need each.
const std::vector<std::string>& token_scopes();

}  // namespace assay::server
