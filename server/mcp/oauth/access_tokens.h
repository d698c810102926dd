// AccessTokens verifies access tokens of identity providers: JSON Web Tokens (RFC 9068) that an
// issuer signed for this server, and opaque tokens about which the server asks the issuer
// (RFC 7662).
//
//   const auto caller = tokens.verify("eyJhbGciOi...");
//   if (!caller) show(caller.error().message);  // for example "the token has expired"
//
// The principal of a token is its issuer and its subject. If an opaque token has no subject, the
// principal is the issuer and the client. Two issuers can give the same subject, and a token of the
// token file has a name without a space, so principals never collide.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "server/mcp/core/request_context.h"
#include "server/mcp/oauth/introspection.h"
#include "server/mcp/oauth/issuer_keys.h"
#include "server/mcp/oauth/protected_resource.h"

namespace assay::mcp {

struct TokenRules {
  /// A token's `aud` must contain one of these. Otherwise a token that a user gave to another
  /// service could be used here.
  std::vector<std::string> audiences;
  std::vector<ScopeName> scopes;
  /// The difference in seconds that the clocks of this machine and of an issuer may have. It counts
  /// for `exp`, `nbf` and `iat`.
  std::int64_t leeway_s = 30;
  /// True: a JWT's `typ` must be at+jwt (RFC 9068). False: it may also be JWT or missing.
  bool require_type = false;
  std::size_t max_token_bytes = 16 << 10;
};

class AccessTokens {
 public:
  struct Issuer {
    std::string url;
    std::shared_ptr<IssuerKeys> keys;
    bool has_file = false;  // the keys come from a file of this machine
    std::shared_ptr<Introspection> introspection = nullptr;  // null: its tokens must be JWTs
  };

  /// The clock must outlive the object.
  AccessTokens(std::vector<Issuer> issuers, TokenRules rules, const Clock& clock = system_clock())
      : issuers_(std::move(issuers)), rules_(std::move(rules)), clock_(clock) {}

  /// Returns the client that the token names, with the scopes of this server. The client may have
  /// no scope at all. Errors: unavailable if the keys of the issuer cannot be read now, or if the
  /// issuer cannot be asked now; any other code if the token is not valid.
  Result<std::shared_ptr<const Caller>> verify(std::string_view token) const;

  /// Returns true if an issuer can be asked about opaque tokens.
  bool knows_opaque_tokens() const { return asked_issuer() != nullptr; }
  /// Returns true if verify() has to ask an issuer about this token over the network.
  bool must_ask(std::string_view token) const;
  /// Returns true if an issuer called this opaque token valid when it was last asked.
  bool familiar(std::string_view token) const;

  /// Reads the files of keys again. Returns the errors, one for each file that cannot be used; the
  /// old keys of its issuer stay in use. Keys from the network are fetched when the next token
  /// needs them, so that this function does not wait for an issuer. Forgets what issuers said about
  /// opaque tokens.
  std::vector<Error> reload() const;

 private:
  using Verified = Result<std::shared_ptr<const Caller>>;
  const Issuer* asked_issuer() const;
  bool is_opaque(std::string_view token) const;
  Verified verify_signed(std::string_view token) const;
  Verified verify_opaque(const Issuer& issuer, std::string_view token) const;
  Status check_times(const nlohmann::json& claims) const;
  Status check_type(const Jwt& jwt) const;
  Status check_claims(const nlohmann::json& claims) const;
  std::shared_ptr<const Caller> caller_of(const Issuer& issuer, const std::string& subject,
                                          const nlohmann::json& claims) const;
  std::vector<std::string> scopes_of(const nlohmann::json& claims) const;

  const std::vector<Issuer> issuers_;
  const TokenRules rules_;
  const Clock& clock_;
};

/// What the HTTP server needs to accept tokens of identity providers.
struct OAuth {
  ProtectedResource resource;
  AccessTokens tokens;
};

}  // namespace assay::mcp
