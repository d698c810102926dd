// Defines and checks the options of `assay serve --http`. A public address requires a token file
// or an identity provider, and a token file must be private. The functions are pure, except that
// http_settings() reads files and prints errors.
//
//   Result<Address> address = parse_address("127.0.0.1:8080");  // host "127.0.0.1", port 8080
//   int status = kPass;
//   const std::optional<HttpSettings> settings = http_settings(flags, status);
//   if (!settings) return status;  // the reason is printed
//   settings->files.reload();      // while the server runs: reads its files again
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/edge/oauth_settings.h"
#include "server/mcp/core/server.h"
#include "server/mcp/http/http_limits.h"
#include "server/mcp/http/http_server.h"
#include "server/mcp/http/socket_io.h"
#include "server/mcp/http/tokens.h"

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
  std::string limits_file;               // empty: the limits stay as they are at the start
  std::vector<std::string> allowed_hosts, allowed_origins;
  OAuthFlags oauth;
  double rate_limit = -1;  // requests per second; 0: no limit; -1: kDefaultRate if there are tokens
};

/// Adds the options to `command`. `flags` must outlive the app.
void add_http_flags(CLI::App& command, HttpFlags& flags);

/// The files of a server that can be read again while the server runs.
struct HttpFiles {
  std::string token_file, tls_certificate, limits_file;  // paths; empty: there is no such file
  std::shared_ptr<mcp::Tokens> tokens;                   // null: the server has no tokens
  std::shared_ptr<mcp::TlsContext> tls;                  // null: the server speaks plain HTTP
  std::shared_ptr<const mcp::OAuth> oauth;  // null: the server has no identity provider
  std::shared_ptr<mcp::LiveLimits> limits;  // null: there is no file of limits
  mcp::HttpOptions started;                 // the options without the limits of the file

  /// Reads the files and the issuers' keys again. Requests that come later need the new tokens and
  /// have the new limits, and connections that begin later get the new certificate. Logs what was
  /// read. If a file cannot be used, logs the reason as an error, and the old contents stay in use.
  /// Thread-safe.
  void reload() const;
};

struct HttpSettings {
  mcp::HttpOptions options;
  HttpFiles files;
};

/// Checks the flags and reads the files that they name. On an error, prints the reason, sets
/// `status` and returns nullopt.
std::optional<HttpSettings> http_settings(const HttpFlags& flags, int& status);

/// Returns the scopes that a token can have. tools/model/services.h says which scope each tool
/// needs.
const std::vector<std::string>& token_scopes();

}  // namespace assay::server
