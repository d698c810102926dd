// Checks a running server of Assay from outside, for `assay doctor --url`. Each check has a
// finding, and each problem says what to do. No finding contains the token.
//
//   const Result<ServerUrl> url = parse_server_url("https://assay.example.org/mcp");
//   if (!url) return fail(url.error());
//   for (const Finding& finding : check_server(*url, token)) show(finding.text);
//
// Pure functions, except that check_server() sends requests. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace assay::server {

struct Finding {
  enum class State { good, warning, problem, no_credentials };
  std::string name;  // what was checked: "reach", "certificate", ...
  State state = State::good;
  std::string text;
  std::string advice = {};  // what to do; empty if there is nothing to do
};

struct ServerUrl {
  std::string base;  // without a path: "https://assay.example.org"
  std::string host;
  int port = 0;
  bool tls = false;
};
/// Parses the URL of a server, with or without the path /mcp. Error: invalid_argument. The message
/// does not quote the URL, because it may contain a password.
Result<ServerUrl> parse_server_url(const std::string& text);

/// Sends some requests, none of which changes anything on the server. `token` may be empty.
std::vector<Finding> check_server(const ServerUrl& url, const std::string& token,
                                  const Clock& clock = system_clock());

/// Returns what a page of metrics says about the state of the server, which was received when this
/// machine's clock showed `now_unix_ms`.
std::vector<Finding> check_metrics(const std::string& page, std::int64_t now_unix_ms);

/// Returns what the certificate's end means at the time `now_unix_ms`. `problem` says why a client
/// refuses the certificate; empty: it does not.
Finding check_certificate(std::int64_t expires_unix_ms, const std::string& problem,
                          std::int64_t now_unix_ms);

/// Returns the exit status of the command (exit_status.h).
int status_of(const std::vector<Finding>& findings);

}  // namespace assay::server
