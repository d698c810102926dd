// Parses a JSON Web Token (RFC 7519) in the compact form of a signature (RFC 7515), without any
// check of the signature. The parser is strict, because another parser could interpret a malformed
// token differently: it refuses base64url with padding or unused bits, duplicate names in the JSON,
// and deep nesting. It also refuses each header that would change how the token must be verified.
//
//   const Result<Jwt> jwt = parse_jwt(token, 16 << 10);
//   if (jwt) show(jwt->claims.value("iss", ""));  // what the token claims, not yet verified
//
// Pure functions, thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace assay::mcp {

/// The algorithms of signatures that the server accepts. All of them are asymmetric. So `none`, and
/// an HMAC for which a public key is taken as the secret, cannot even be represented.
enum class SignatureAlgorithm { rs256, ps256, es256, ed25519 };

/// Returns the algorithm of a header's `alg`: RS256, PS256, ES256, EdDSA or Ed25519.
std::optional<SignatureAlgorithm> signature_algorithm(std::string_view name);
/// The names of all accepted algorithms, for messages.
inline constexpr const char* kSignatureAlgorithms = "RS256, PS256, ES256, EdDSA, Ed25519";

struct Jwt {
  SignatureAlgorithm algorithm = SignatureAlgorithm::rs256;
  std::string key_id = {};  // the header's `kid`; empty: the token names no key
  std::string type = {};    // the header's `typ` in lower case, without "application/"
  nlohmann::json claims;    // an object
  std::string signed_part;  // the bytes that the signature covers
  std::string signature;    // decoded
};

/// Returns true if the token has three parts between dots, and the first part is the header of a
/// JWT. Every other token is opaque: only its issuer can say what it means.
bool has_jwt_form(std::string_view token);

/// Errors: resource_exhausted if the token has more than `max_bytes`; unsupported if it has an
/// algorithm or a header that the server does not accept; corrupt if it is malformed.
Result<Jwt> parse_jwt(std::string_view token, std::size_t max_bytes);

/// Decodes base64url without padding (RFC 4648, section 5). Returns nothing if `text` is not
/// exactly what an encoder gives.
std::optional<std::string> base64url_decode(std::string_view text);

/// Parses a JSON object in which no object has two members of the same name. `what` names the text
/// in messages. Error: corrupt.
Result<nlohmann::json> parse_strict_object(std::string_view text, const std::string& what);

}  // namespace assay::mcp
