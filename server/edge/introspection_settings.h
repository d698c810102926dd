// Defines and checks the options of `assay serve --http` about opaque access tokens: at which URL
// the issuer is asked about them (RFC 7662), and with which credentials.
//
//   const Result<std::shared_ptr<mcp::Introspection>> introspection =
//       introspection_settings(flags, {"https://id.example.org"});
//
// The secret comes from a file that only its owner can read. The file is read for each request to
// the issuer, so a new secret is in use at once. The secret never reaches a log or a message.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/mcp/oauth/introspection.h"

namespace assay::server {

struct IntrospectionFlags {
  std::string url;          // empty: opaque tokens are not accepted
  std::string issuer;       // empty: the only issuer
  std::string client_id;    // with which this server logs in at the issuer
  std::string secret_file;  // the client's secret
  std::int64_t cache_s = 60;
  std::int64_t timeout_ms = 5'000;
};

/// Adds the options to `command`. `flags` must outlive the app. All options need `needed`.
void add_introspection_flags(CLI::App& command, IntrospectionFlags& flags, CLI::Option& needed);

/// Checks the flags and the file of the secret. Returns null if there is no URL. Sends nothing, so
/// that the server also starts while the issuer does not answer. Errors: invalid_argument if a flag
/// is wrong; those of read_private_file() (server/app/files.h) and corrupt for the secret.
Result<std::shared_ptr<mcp::Introspection>> introspection_settings(
    const IntrospectionFlags& flags, const std::vector<std::string>& issuers);

/// Returns the issuer whose opaque tokens are accepted, which is empty if there is none.
std::string introspected_issuer(const IntrospectionFlags& flags,
                                const std::vector<std::string>& issuers);

}  // namespace assay::server
