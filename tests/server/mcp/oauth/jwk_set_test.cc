#include "server/mcp/oauth/jwk_set.h"

#include "tests/server/mcp/oauth/signing.h"

namespace assay::mcp {
namespace {

using test::base64url;
using test::json;
using test::signing_keys;
using test::SigningKey;

Jwt parsed(const std::string& token) {
  const Result<Jwt> jwt = parse_jwt(token, 16 << 10);
  if (!jwt) FAIL(jwt.error().message);
  return *jwt;
}

JwkSet set_of(const std::vector<json>& keys) {
  const Result<JwkSet> set = JwkSet::parse(json{{"keys", keys}}.dump());
  if (!set) FAIL(set.error().message);
  return *set;
}

bool is_refused(const std::vector<json>& keys) {
  return !JwkSet::parse(json{{"keys", keys}}.dump());
}

}  // namespace

TEST_CASE("jwk set: each algorithm verifies what its key has signed, and nothing else") {
  const auto& keys = signing_keys();
  const Result<JwkSet> set = JwkSet::parse(keys.key_set());
  REQUIRE(set);
  CHECK(set->size() == 3);
  const std::vector<std::pair<const SigningKey*, std::string>> cases = {
      {&keys.rsa, "RS256"}, {&keys.rsa, "PS256"}, {&keys.p256, "ES256"}, {&keys.ed25519, "EdDSA"}};
  for (const auto& [key, algorithm] : cases) {
    INFO(algorithm);
    const std::string token = key->token({{"alg", algorithm}}, {{"sub", "alice"}});
    CHECK(set->verify(parsed(token)));
    Jwt changed = parsed(token);
    changed.signed_part += "A";
    CHECK_FALSE(set->verify(changed));
    changed = parsed(token);
    changed.signature[5] = static_cast<char>(changed.signature[5] ^ 1);
    CHECK_FALSE(set->verify(changed));
    changed = parsed(token);
    changed.signature.pop_back();
    CHECK_FALSE(set->verify(changed));
    changed = parsed(token);
    changed.signature.push_back('\0');
    CHECK_FALSE(set->verify(changed));
    // Another key with the same id
    CHECK_FALSE(set_of({SigningKey::p256("e").jwk(), SigningKey::ed25519("o").jwk(),
                        SigningKey::rsa("r").jwk()})
                    .verify(parsed(token)));
  }
}

TEST_CASE("jwk set: a token cannot use a key in another way than the key's type") {
  const auto& keys = signing_keys();
  const Result<JwkSet> set = JwkSet::parse(keys.key_set());
  REQUIRE(set);
  for (const char* algorithm : {"RS256", "PS256"}) {
    // A header that names another algorithm than the signature has
    const std::string other = std::string(algorithm) == "RS256" ? "PS256" : "RS256";
    const Jwt confused =
        parsed(keys.rsa.token_of(json{{"alg", algorithm}, {"kid", "r"}}.dump(), "{}", other));
    CHECK(set->has_key_for(confused));
    CHECK_FALSE(set->verify(confused));
    for (const char* id : {"e", "o"})
      CHECK_FALSE(set->has_key_for(
          parsed(keys.rsa.token({{"alg", algorithm}, {"kid", id}}, json::object()))));
  }
  for (const char* id : {"r", "o", "unknown"})
    CHECK_FALSE(
        set->has_key_for(parsed(keys.p256.token({{"alg", "ES256"}, {"kid", id}}, json::object()))));
  // A key that its issuer made for one algorithm
  json only = keys.rsa.jwk();
  only["alg"] = "PS256";
  const JwkSet one = set_of({only});
  CHECK(one.verify(parsed(keys.rsa.token({{"alg", "PS256"}}, json::object()))));
  CHECK_FALSE(one.has_key_for(parsed(keys.rsa.token({{"alg", "RS256"}}, json::object()))));
}

TEST_CASE("jwk set: a signature with the numbers 0 is wrong") {
  const auto& keys = signing_keys();
  Jwt jwt = parsed(keys.p256.token({{"alg", "ES256"}}, json::object()));
  jwt.signature = std::string(64, '\0');
  CHECK_FALSE(JwkSet::parse(keys.key_set())->verify(jwt));
}

TEST_CASE("jwk set: a token without a key id needs exactly one key of its type") {
  const auto& keys = signing_keys();
  const Jwt jwt = parsed(keys.p256.token_of(R"({"alg":"ES256"})", "{}", "ES256"));
  CHECK(JwkSet::parse(keys.key_set())->verify(jwt));
  const JwkSet two = set_of({keys.p256.jwk(), SigningKey::p256("f").jwk()});
  CHECK_FALSE(two.has_key_for(jwt));
}

TEST_CASE("jwk set: keys that no accepted algorithm uses are skipped") {
  const auto& keys = signing_keys();
  json symmetric = {{"kty", "oct"}, {"kid", "s"}, {"k", base64url("secret")}, {"alg", "HS256"}};
  json for_encryption = keys.rsa.jwk();
  for_encryption["use"] = "enc";
  json for_signing = keys.rsa.jwk();
  for_signing["key_ops"] = {"sign"};
  json other_algorithm = keys.rsa.jwk();
  other_algorithm["alg"] = "RS512";
  json hmac = keys.rsa.jwk();
  hmac["alg"] = "HS256";
  json curve = keys.p256.jwk();
  curve["crv"] = "secp256k1";
  const json short_key = SigningKey::rsa("short", 1024).jwk();
  for (const json& skipped :
       {symmetric, for_encryption, for_signing, other_algorithm, hmac, curve, short_key}) {
    INFO(skipped.dump());
    CHECK(is_refused({skipped}));  // no key is left
    CHECK(set_of({skipped, keys.ed25519.jwk()}).size() == 1);
  }
  json verify = keys.rsa.jwk();
  verify["key_ops"] = {"verify"};
  verify["use"] = "sig";
  CHECK(set_of({verify}).size() == 1);
}

TEST_CASE("jwk set: malformed keys are refused") {
  const auto& keys = signing_keys();
  const auto changed = [](json key, const char* name, const json& value) {
    key[name] = value;
    return std::vector<json>{key};
  };
  const std::string zero = base64url(std::string(32, '\0'));
  CHECK(is_refused(changed(keys.p256.jwk(), "x", zero)));  // not on the curve
  CHECK(is_refused(changed(keys.p256.jwk(), "x", base64url(std::string(31, '\1')))));
  CHECK(is_refused(changed(keys.p256.jwk(), "y", nullptr)));
  CHECK(is_refused(changed(keys.ed25519.jwk(), "x", base64url(std::string(31, '\1')))));
  CHECK(is_refused(
      changed(keys.ed25519.jwk(), "x", keys.ed25519.jwk()["x"].get<std::string>() + "=")));
  CHECK(is_refused(changed(keys.rsa.jwk(), "e", "AQ")));    // 1
  CHECK(is_refused(changed(keys.rsa.jwk(), "e", "AQAC")));  // even
  CHECK(is_refused(changed(keys.rsa.jwk(), "n", "")));
  CHECK(is_refused(changed(keys.rsa.jwk(), "n", base64url(std::string(1025, '\x7f')))));
  CHECK(is_refused({}));
  CHECK(is_refused({json(1)}));
  CHECK(is_refused(std::vector<json>(65, keys.ed25519.jwk())));
  CHECK_FALSE(JwkSet::parse("[]"));
  CHECK_FALSE(JwkSet::parse("{}"));
  CHECK_FALSE(JwkSet::parse(R"({"keys":[],"keys":[]})"));
}

TEST_CASE("jwk set: the key of an RFC") {
  // RFC 8037, appendix A
  const Result<JwkSet> set = JwkSet::parse(
      R"({"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]})");
  REQUIRE(set);
  Jwt jwt;
  jwt.algorithm = SignatureAlgorithm::ed25519;
  jwt.signed_part = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
  jwt.signature = *base64url_decode(
      "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg");
  CHECK(set->verify(jwt));
}

}  // namespace assay::mcp
