// JwkSet stores the public keys of an issuer of access tokens, which come as a JSON Web Key Set
// (RFC 7517). It verifies signatures with OpenSSL.
//
//   const Result<JwkSet> keys = JwkSet::parse(R"({"keys": [{"kty": "OKP", "crv": "Ed25519",
//       "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]})");
//   if (keys && keys->has_key_for(jwt)) show(keys->verify(jwt));  // whether the signature is right
//
// A key verifies only algorithms of its own type: RSA keys RS256 and PS256, keys on the curve P-256
// ES256, and Ed25519 keys EdDSA. So a token cannot choose how a key is used. Keys that come with a
// token (`jwk`, `jku`, `x5c`) are never used. Immutable, thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/mcp/oauth/jwt.h"

struct evp_pkey_st;  // OpenSSL's EVP_PKEY

namespace assay::mcp {

class JwkSet {
 public:
  /// Parses a key set. Skips keys that no accepted algorithm uses, for example symmetric keys, keys
  /// for encryption, RSA keys with less than 2,048 bits, and other curves. Error: corrupt if the
  /// text is no key set, if a key of an accepted type is malformed, if there are more than 64 keys,
  /// or if no key is left.
  static Result<JwkSet> parse(std::string_view text);

  /// Returns true if the set has a key that can verify the token: a key with the token's key id,
  /// and of the type that the token's algorithm needs. A token without a key id fits only if there
  /// is exactly one key of this type, so that the choice is clear.
  bool has_key_for(const Jwt& jwt) const { return key_for(jwt) != nullptr; }
  /// Returns true if the token's signature was made with the key that fits the token.
  bool verify(const Jwt& jwt) const;
  std::size_t size() const { return keys_.size(); }

 private:
  enum class KeyType { rsa, p256, ed25519 };
  struct Key {
    std::string id;
    KeyType type = KeyType::rsa;
    std::optional<SignatureAlgorithm> only = {};  // the key's `alg`; empty: all of its type
    std::shared_ptr<evp_pkey_st> key;
  };
  static KeyType type_for(SignatureAlgorithm algorithm);
  /// Returns nothing if the key is one that this server does not use.
  static Result<std::optional<Key>> parse_key(const nlohmann::json& jwk);
  static Result<std::shared_ptr<evp_pkey_st>> make_key(KeyType type, const nlohmann::json& jwk);
  const Key* key_for(const Jwt& jwt) const;

  std::vector<Key> keys_;
};

}  // namespace assay::mcp
