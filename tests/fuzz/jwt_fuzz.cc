// Fuzzes the parsers of what OAuth clients and issuers send: access tokens, sets of keys, metadata
// of an issuer, times of a token file, and URLs.
//
// For any bytes there must be no crash, and no bytes may be accepted as a token of an issuer,
// because the fuzzer does not know the issuer's key. A token that was parsed must consist of its
// three parts, and must have an algorithm that is accepted.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "base/rfc3339.h"
#include "server/mcp/oauth/access_tokens.h"
#include "server/mcp/oauth/discovery.h"
#include "server/mcp/oauth/jwk_set.h"
#include "server/mcp/oauth/jwt.h"

namespace {

using namespace assay;
using namespace assay::mcp;

constexpr std::size_t kMaxTokenBytes = 1024;
// RFC 8037, appendix A
constexpr const char* kKeys =
    R"({"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]})";

void must(bool holds) {
  if (!holds) std::abort();
}

AccessTokens tokens() {
  auto keys = std::make_shared<IssuerKeys>([] { return JwkSet::parse(kKeys); });
  return AccessTokens({{"i", std::move(keys)}},
                      {.audiences = {"a"}, .scopes = {{"practice", "practice"}}});
}

void check_token(std::string_view bytes) {
  static const AccessTokens accepted = tokens();
  const Result<Jwt> jwt = parse_jwt(bytes, kMaxTokenBytes);
  must(!accepted.verify(bytes));
  if (!jwt) return must(!jwt.error().message.empty());
  must(bytes.size() <= kMaxTokenBytes && jwt->claims.is_object());
  must(bytes.substr(0, jwt->signed_part.size()) == jwt->signed_part);
  must(base64url_decode(bytes.substr(jwt->signed_part.size() + 1)) == jwt->signature);
}

/// Lets the fuzzer change the JSON of a token's parts, which it cannot do behind base64url.
void check_json(std::string_view bytes) {
  const auto object = parse_strict_object(bytes, "it");
  must(!object || object->is_object());
  const Result<JwkSet> keys = JwkSet::parse(bytes);
  must(!keys || keys->size() > 0);
  const auto fetched = discover_keys("https://i", [&](const std::string& url) {
    return url == "https://i/k" ? Result<std::string>(kKeys)
                                : Result<std::string>(std::string(bytes));
  });
  must(fetched || !fetched.error().message.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_token(bytes);
  check_json(bytes);
  if (const auto time = unix_ms_from(bytes)) must(*time > -100'000'000);
  if (check_url(bytes, "it"))
    must(!host_of(bytes).empty() && metadata_urls(std::string(bytes)).size() > 1);
  return 0;
}
