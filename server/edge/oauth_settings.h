// Defines and checks the options of `assay serve --http` about identity providers: whose access
// tokens the server accepts, and how clients find the provider.
//
//   const Result<std::shared_ptr<const mcp::OAuth>> oauth =
//       oauth_settings(flags, "http://127.0.0.1:8080/mcp");
//   if (oauth && *oauth) options.oauth = *oauth;  // null: the server has no identity provider
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/edge/introspection_settings.h"
#include "server/mcp/oauth/access_tokens.h"

namespace assay::server {

struct OAuthFlags {
  std::vector<std::string> issuers;    // URLs; empty: no identity provider
  std::vector<std::string> key_sets;   // files or URLs, one for each issuer; empty: discovery
  std::string public_url;              // of the endpoint, as clients see it
  std::vector<std::string> audiences;  // empty: the public URL
  std::vector<std::string> scopes;     // THEIRS=OURS; empty: both have the same names
  bool require_type = false;
  std::int64_t leeway_s = 30;
  std::int64_t keys_lifetime_s = 600;
  IntrospectionFlags introspection;
};

/// Adds the options to `command`. `flags` must outlive the app. All options need `needed`.
void add_oauth_flags(CLI::App& command, OAuthFlags& flags, CLI::Option& needed);

/// Checks the flags and reads the issuers' keys. Returns null if there is no issuer. `own_url` is
/// the URL of the endpoint if only clients on this machine can connect, otherwise empty. If the
/// keys come from the network and an issuer does not answer, logs a warning; the keys are then read
/// when a token needs them. Errors: invalid_argument if a flag is wrong; not_found if a file of
/// keys cannot be read; corrupt if it is malformed; those of introspection_settings().
Result<std::shared_ptr<const mcp::OAuth>> oauth_settings(const OAuthFlags& flags,
                                                         const std::string& own_url);

}  // namespace assay::server
