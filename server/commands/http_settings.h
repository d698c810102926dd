// The options of `assay serve --http`, and their checks: a public address needs a token file, and a
// token file must be private.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "server/mcp/core/server.h"
#include "server/mcp/http/http_server.h"

namespace assay::server {

/// The scopes of a token; tools/model/services.h says which tools need each scope.
const std::vector<std::string>& token_scopes();

struct HttpFlags {
  std::string address;                   // HOST:PORT; empty: no HTTP
  std::string token_file;                // empty: everyone who can connect may do everything
  std::string tls_certificate, tls_key;  // PEM files; both or none
  std::vector<std::string> allowed_hosts;
  double rate_limit = -1;  // requests a second; 0: no limit; -1: kDefaultRate if there are tokens
};

/// Adds the options to `command`. `flags` must outlive the app.
void add_http_flags(CLI::App& command, HttpFlags& flags);

/// The options of the server. On an error it prints the reason, sets `status` and returns nothing.
std::optional<mcp::HttpOptions> http_options(const HttpFlags& flags, int& status);

}  // namespace assay::server
