// ProtectedResource describes this server to OAuth clients: the metadata of RFC 9728, and the
// challenges in the header WWW-Authenticate (RFC 6750). With both, a client finds the issuer of
// tokens, and knows which scope to ask for.
//
//   const ProtectedResource resource{.url = "https://assay.example.org/mcp",
//                                    .issuers = {"https://id.example.org"},
//                                    .scopes = {{"assay:practice", "practice"}}};
//   resource.describes("/.well-known/oauth-protected-resource/mcp");  // true
//   resource.challenge({});  // the value of WWW-Authenticate for a request without a token
//
// Plain data. The functions are pure and thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::mcp {

/// A scope of the issuers and the scope of this server that it stands for.
struct ScopeName {
  std::string theirs, ours;
};

/// The reason why a request was refused, for the challenge.
struct Challenge {
  std::string error = {};   // invalid_token or insufficient_scope; empty: the request had no token
  std::string reason = {};  // one sentence for a person
  /// Scopes of this server: those that the token has, and the scope that is missing. Empty: the
  /// first scope of the resource, with which a client can begin.
  std::vector<std::string> scopes = {};
};

struct ProtectedResource {
  std::string url;                   // of the endpoint, as clients see it; identifies the resource
  std::vector<std::string> issuers;  // the URLs of the issuers whose tokens are accepted
  std::vector<ScopeName> scopes;     // begins with the scope that permits least

  /// Returns true if a request for this path asks for the metadata.
  bool describes(std::string_view path) const;
  std::string metadata_url() const;
  /// The metadata as JSON text.
  std::string metadata() const;
  std::string challenge(const Challenge& challenge) const;
};

}  // namespace assay::mcp
