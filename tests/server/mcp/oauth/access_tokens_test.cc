#include "server/mcp/oauth/access_tokens.h"

#include "tests/server/mcp/oauth/signing.h"

namespace assay::mcp {
namespace {

using test::base64url;
using test::json;
using test::signing_keys;
using test::SigningKey;

constexpr const char* kIssuer = "https://id.example";
constexpr const char* kOther = "https://other.example";
constexpr const char* kAudience = "https://assay.example/mcp";

/// Two issuers with different keys, and a clock that the test moves.
struct Verifier {
  ManualClock clock;
  bool answers = true;
  SigningKey other = SigningKey::p256("e");  // the same key id as that of kIssuer
  TokenRules rules{.audiences = {kAudience},
                   .scopes = {{"practice", "practice"}, {"team:score", "score"}}};

  AccessTokens tokens() {
    const auto keys = [this](const std::string& text) {
      return std::make_shared<IssuerKeys>(
          [this, text]() -> Result<JwkSet> {
            if (!answers) return fail(ErrorCode::unavailable, "no answer");
            return JwkSet::parse(text);
          },
          KeyLimits{}, clock);
    };
    return AccessTokens({{kIssuer, keys(signing_keys().key_set())},
                         {kOther, keys(json{{"keys", json::array({other.jwk()})}}.dump())}},
                        rules, clock);
  }
  double now_s() const { return static_cast<double>(clock.unix_ms()) / 1000; }
  json claims() const {
    return {{"iss", kIssuer},       {"sub", "alice"}, {"aud", kAudience},
            {"exp", now_s() + 300}, {"iat", now_s()}, {"scope", "practice team:score"}};
  }
  json without(const char* name) const {
    json out = claims();
    out.erase(name);
    return out;
  }
  json with(const char* name, const json& value) const {
    json out = claims();
    out[name] = value;
    return out;
  }
};

std::string signed_token(const json& claims,
                         const json& header = {{"alg", "ES256"}, {"typ", "at+jwt"}}) {
  return signing_keys().p256.token(header, claims);
}

std::string reason(const AccessTokens& tokens, const std::string& token) {
  const auto caller = tokens.verify(token);
  return caller ? "" : caller.error().message;
}

bool mentions(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("access tokens: the client of a valid token") {
  Verifier verifier;
  const AccessTokens tokens = verifier.tokens();
  const auto caller = tokens.verify(signed_token(verifier.claims()));
  REQUIRE(caller);
  CHECK((*caller)->name == "https://id.example alice");
  CHECK((*caller)->issuer == kIssuer);
  CHECK((*caller)->scopes == std::vector<std::string>{"practice", "score"});
  CHECK((*caller)->expires_unix_ms == verifier.clock.unix_ms() + 300'000);
  for (const auto& [algorithm, key] :
       {std::pair{"RS256", &signing_keys().rsa}, std::pair{"PS256", &signing_keys().rsa},
        std::pair{"EdDSA", &signing_keys().ed25519}})
    CHECK(tokens.verify(key->token({{"alg", algorithm}}, verifier.claims())));
}

TEST_CASE("access tokens: the same subject of two issuers is two principals") {
  Verifier verifier;
  const AccessTokens tokens = verifier.tokens();
  const auto one = tokens.verify(signed_token(verifier.claims()));
  const auto two =
      tokens.verify(verifier.other.token({{"alg", "ES256"}}, verifier.with("iss", kOther)));
  REQUIRE(one);
  REQUIRE(two);
  CHECK((*one)->name != (*two)->name);
  // One issuer cannot sign for the other, although the key ids are equal.
  CHECK(mentions(reason(tokens, signed_token(verifier.with("iss", kOther))), "signature"));
  CHECK(mentions(reason(tokens, verifier.other.token({{"alg", "ES256"}}, verifier.claims())),
                 "signature"));
}

TEST_CASE("access tokens: a signature by no key of the issuer") {
  Verifier verifier;
  const AccessTokens tokens = verifier.tokens();
  const SigningKey stranger = SigningKey::p256("e");
  CHECK(
      mentions(reason(tokens, stranger.token({{"alg", "ES256"}}, verifier.claims())), "signature"));
  // A key that comes with the token is not used.
  CHECK(mentions(reason(tokens, stranger.token({{"alg", "ES256"}, {"jwk", stranger.jwk()}},
                                               verifier.claims())),
                 "signature"));
  CHECK(
      mentions(reason(tokens, stranger.token({{"alg", "ES256"}, {"kid", "x"}}, verifier.claims())),
               "no key"));
  const std::string header = base64url(R"({"alg":"none"})");
  for (const std::string& signature : {std::string(), std::string("AA")})
    CHECK_FALSE(
        tokens.verify(header + "." + base64url(verifier.claims().dump()) + "." + signature));
  // HS256 with the public key as the secret: the algorithm cannot be named at all.
  const std::string text =
      base64url(R"({"alg":"HS256","kid":"r"})") + "." + base64url(verifier.claims().dump());
  const std::string secret = signing_keys().rsa.jwk().dump();
  std::string mac(32, '\0');
  unsigned int size = 32;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(),
       reinterpret_cast<unsigned char*>(mac.data()), &size);
  CHECK(mentions(reason(tokens, text + "." + base64url(mac)), "algorithm"));
}

TEST_CASE("access tokens: the time of validity, with the leeway") {
  Verifier verifier;
  verifier.rules.leeway_s = 30;
  const AccessTokens tokens = verifier.tokens();
  const std::string token = signed_token(verifier.claims());
  verifier.clock.advance_ms(329'999);
  CHECK(tokens.verify(token));
  verifier.clock.advance_ms(1);
  CHECK(reason(tokens, token) == "the token has expired");
  CHECK(mentions(reason(tokens, signed_token(verifier.without("exp"))), "'exp' is missing"));
  CHECK(tokens.verify(signed_token(verifier.with("nbf", verifier.now_s() + 30))));
  CHECK(mentions(reason(tokens, signed_token(verifier.with("nbf", verifier.now_s() + 31))),
                 "not valid yet"));
  CHECK(tokens.verify(signed_token(verifier.with("iat", verifier.now_s() + 30))));
  CHECK(mentions(reason(tokens, signed_token(verifier.with("iat", verifier.now_s() + 31))),
                 "in the future"));
  CHECK(tokens.verify(signed_token(verifier.without("iat"))));
  for (const char* name : {"exp", "nbf", "iat"}) {
    for (const json& value : {json("9999999999"), json(nullptr), json(true), json::array(),
                              json(-1), json(1e300), json(std::uint64_t{1} << 63)}) {
      INFO(name << " " << value.dump());
      CHECK_FALSE(tokens.verify(signed_token(verifier.with(name, value))));
    }
  }
}

TEST_CASE("access tokens: only tokens for this server") {
  Verifier verifier;
  const AccessTokens tokens = verifier.tokens();
  CHECK(tokens.verify(signed_token(verifier.with("aud", {"https://x.example", kAudience}))));
  for (const json& audience :
       {json("https://x.example"), json::array(), json("https://assay.example/mcp/"),
        json("https://ASSAY.example/mcp"), json(7), json({kAudience, 7}), json(nullptr),
        json({{"a", kAudience}})}) {
    INFO(audience.dump());
    CHECK_FALSE(tokens.verify(signed_token(verifier.with("aud", audience))));
  }
  CHECK(mentions(reason(tokens, signed_token(verifier.without("aud"))), "'aud' is missing"));
}

TEST_CASE("access tokens: the issuer and the subject") {
  Verifier verifier;
  const AccessTokens tokens = verifier.tokens();
  for (const json& issuer : {json("https://id.example/"), json("https://evil.example"), json(7),
                             json({kIssuer}), json(nullptr), json("")}) {
    INFO(issuer.dump());
    CHECK(mentions(reason(tokens, signed_token(verifier.with("iss", issuer))), "issuer"));
  }
  CHECK(mentions(reason(tokens, signed_token(verifier.without("iss"))), "issuer"));
  CHECK_FALSE(tokens.verify(signed_token(verifier.without("sub"))));
  for (const json& subject : {json(""), json(7), json(std::string(256, 's')), json("a\nb"),
                              json("a\tb"), json(std::string("a\0b", 3)), json("a\x1b[2J"),
                              json("a\u202e"
                                   "b")}) {
    INFO(subject.dump());
    CHECK(mentions(reason(tokens, signed_token(verifier.with("sub", subject))), "'sub'"));
  }
  CHECK(tokens.verify(signed_token(verifier.with("sub", std::string(255, 's')))));
}

TEST_CASE("access tokens: the type of the token") {
  Verifier verifier;
  const AccessTokens lenient = verifier.tokens();
  verifier.rules.require_type = true;
  const AccessTokens strict = verifier.tokens();
  for (const char* type : {"at+jwt", "AT+JWT", "application/at+jwt"}) {
    const std::string token = signed_token(verifier.claims(), {{"alg", "ES256"}, {"typ", type}});
    CHECK(lenient.verify(token));
    CHECK(strict.verify(token));
  }
  for (const json& header : {json{{"alg", "ES256"}}, json{{"alg", "ES256"}, {"typ", "JWT"}}}) {
    const std::string token = signed_token(verifier.claims(), header);
    CHECK(lenient.verify(token));
    CHECK_FALSE(strict.verify(token));
  }
  for (const char* type : {"dpop+jwt", "logout+jwt", "id+jwt", "JWS"}) {
    const std::string token = signed_token(verifier.claims(), {{"alg", "ES256"}, {"typ", type}});
    CHECK_FALSE(lenient.verify(token));
    CHECK_FALSE(strict.verify(token));
  }
  CHECK(mentions(reason(lenient, signed_token(verifier.with("cnf", {{"jkt", "x"}}))), "cnf"));
}

TEST_CASE("access tokens: the names of scopes") {
  Verifier verifier;
  const AccessTokens tokens = verifier.tokens();
  const auto scopes = [&](json claims) {
    const auto caller = tokens.verify(signed_token(claims));
    if (!caller) FAIL(caller.error().message);
    return (*caller)->scopes;
  };
  using Names = std::vector<std::string>;
  CHECK(scopes(verifier.with("scope", "practice")) == Names{"practice"});
  CHECK(scopes(verifier.with("scope", "openid  team:score x")) == Names{"score"});
  CHECK(scopes(verifier.with("scope", "score practices PRACTICE")) == Names{});
  CHECK(scopes(verifier.with("scope", 7)) == Names{});
  CHECK(scopes(verifier.without("scope")) == Names{});
  json other = verifier.without("scope");
  other["scp"] = {"practice", "team:score"};
  CHECK(scopes(other) == Names{"practice", "score"});
  other["scp"] = "team:score";
  CHECK(scopes(other) == Names{"score"});
}

TEST_CASE("access tokens: large tokens are refused before they are parsed") {
  Verifier verifier;
  verifier.rules.max_token_bytes = 1000;
  CHECK(
      mentions(reason(verifier.tokens(), signed_token(verifier.with("x", std::string(1000, 'x')))),
               "larger than 1000 bytes"));
}

TEST_CASE("access tokens: without the issuer's keys the answer is not that the token is wrong") {
  Verifier verifier;
  verifier.answers = false;
  const AccessTokens tokens = verifier.tokens();
  CHECK(tokens.verify(signed_token(verifier.claims())).error().code == ErrorCode::unavailable);
  verifier.answers = true;
  CHECK_FALSE(tokens.verify(signed_token(verifier.claims())));  // too soon after the failed load
  CHECK(tokens.reload().empty());
  CHECK(tokens.verify(signed_token(verifier.claims())));
}

TEST_CASE("access tokens: a reload reads files at once, and keeps old keys if a file is wrong") {
  ManualClock clock;
  std::string text = signing_keys().key_set();
  const auto keys =
      std::make_shared<IssuerKeys>([&] { return JwkSet::parse(text); }, KeyLimits{}, clock);
  Verifier verifier;
  const AccessTokens tokens({{kIssuer, keys, true}}, verifier.rules, clock);
  CHECK(tokens.reload().empty());
  text = "{}";
  CHECK(tokens.reload().size() == 1);
  CHECK(tokens.verify(signed_token(verifier.claims())));
  text = json{{"keys", json::array({verifier.other.jwk()})}}.dump();
  CHECK(tokens.reload().empty());
  CHECK_FALSE(tokens.verify(signed_token(verifier.claims())));
}

namespace {

/// Issuers of which the second one is asked about opaque tokens, and a clock that the test moves.
struct Asking {
  Verifier verifier;
  json answer = {{"active", true},
                 {"sub", "alice"},
                 {"client_id", "machine"},
                 {"aud", kAudience},
                 {"exp", verifier.now_s() + 300},
                 {"scope", "practice team:score"}};
  int status = 200;
  int asked = 0;

  AccessTokens tokens() {
    const auto keys = std::make_shared<IssuerKeys>(
        [] { return JwkSet::parse(signing_keys().key_set()); }, KeyLimits{}, verifier.clock);
    const auto introspection = std::make_shared<Introspection>(
        [this](const std::string&) -> Result<Introspection::Answer> {
          ++asked;
          return Introspection::Answer{status, answer.dump()};
        },
        IntrospectionLimits{.cache_ms = 0}, verifier.clock);
    return AccessTokens({{kIssuer, keys}, {kOther, keys, false, introspection}}, verifier.rules,
                        verifier.clock);
  }
};

}  // namespace

TEST_CASE("access tokens: the client of an opaque token") {
  Asking asking;
  const AccessTokens tokens = asking.tokens();
  CHECK(tokens.must_ask("opaque"));
  const auto caller = tokens.verify("opaque");
  REQUIRE(caller);
  CHECK((*caller)->name == "https://other.example alice");
  CHECK((*caller)->issuer == kOther);
  CHECK((*caller)->scopes == std::vector<std::string>{"practice", "score"});
  CHECK((*caller)->expires_unix_ms == asking.verifier.clock.unix_ms() + 300'000);
  asking.answer.erase("sub");  // a program that got the token for itself
  CHECK((*tokens.verify("opaque"))->name == "https://other.example client_id=machine");
  asking.answer["sub"] = "client_id=machine";  // a person cannot be taken for the program
  CHECK(mentions(reason(tokens, "opaque"), "must not begin"));
  asking.answer.erase("sub");
  asking.answer.erase("client_id");
  CHECK(mentions(reason(tokens, "opaque"), "'client_id' is missing"));
}

TEST_CASE("access tokens: what an issuer says about an opaque token is checked like a JWT") {
  Asking asking;
  const AccessTokens tokens = asking.tokens();
  const json fine = asking.answer;
  const double now = asking.verifier.now_s();
  const auto refused = [&](const char* claim, const json& value) {
    asking.answer = fine;
    if (value.is_discarded())
      asking.answer.erase(claim);
    else
      asking.answer[claim] = value;
    const auto caller = tokens.verify("opaque");
    INFO(asking.answer.dump());
    return !caller && caller.error().code == ErrorCode::corrupt;
  };
  const json missing(json::value_t::discarded);
  CHECK(refused("active", false));
  CHECK(refused("aud", missing));
  CHECK(refused("aud", "https://x.example"));
  CHECK(refused("exp", missing));
  CHECK(refused("exp", now - 30));
  CHECK(refused("nbf", now + 31));
  CHECK(refused("iat", now + 31));
  CHECK(refused("iss", kIssuer));  // the other issuer is not asked about its tokens
  CHECK(refused("iss", 7));
  CHECK(refused("sub", "a\nb"));
  CHECK(refused("sub", nullptr));
  CHECK(refused("cnf", {{"jkt", "x"}}));
  CHECK(refused("token_type", "DPoP"));
  CHECK(refused("token_type", "Refresh"));
  CHECK(refused("token_type", 7));
  CHECK_FALSE(refused("iss", kOther));
  CHECK_FALSE(refused("token_type", "bearer"));
  CHECK_FALSE(refused("scope", "none"));
  CHECK((*tokens.verify("opaque"))->scopes.empty());
  asking.answer = fine;
  asking.status = 500;
  CHECK(tokens.verify("opaque").error().code == ErrorCode::unavailable);
}

TEST_CASE("access tokens: an issuer is asked only about tokens that are no JWT") {
  Asking asking;
  const AccessTokens tokens = asking.tokens();
  CHECK(tokens.verify(signed_token(asking.verifier.claims())));
  const SigningKey stranger = SigningKey::p256("e");
  CHECK_FALSE(tokens.verify(stranger.token({{"alg", "ES256"}}, asking.verifier.claims())));
  CHECK_FALSE(tokens.verify(std::string((16 << 10) + 1, 'x')));
  CHECK_FALSE(tokens.verify("two words"));
  CHECK_FALSE(tokens.verify("a\x01"));
  CHECK(asking.asked == 0);
  for (const char* token : {"a.b", "a.b.c", "e30.e30", "bm90IGpzb24.b.c"})
    CHECK(tokens.verify(token));
  CHECK(asking.asked == 4);
  CHECK_FALSE(asking.verifier.tokens().must_ask("opaque"));
}

TEST_CASE("access tokens: an opaque token that has expired is refused although it is remembered") {
  ManualClock clock;
  int asked = 0;
  const json answer = {{"active", true},
                       {"sub", "alice"},
                       {"aud", kAudience},
                       {"exp", static_cast<double>(clock.unix_ms()) / 1000 + 60}};
  const auto introspection = std::make_shared<Introspection>(
      [&](const std::string&) -> Result<Introspection::Answer> {
        ++asked;
        return Introspection::Answer{200, answer.dump()};
      },
      IntrospectionLimits{.cache_ms = 3'600'000}, clock);
  Verifier verifier;
  const auto keys =
      std::make_shared<IssuerKeys>([] { return JwkSet::parse(signing_keys().key_set()); });
  const AccessTokens tokens({{kIssuer, keys, false, introspection}}, verifier.rules, clock);
  CHECK(tokens.verify("opaque"));
  CHECK_FALSE(tokens.must_ask("opaque"));
  clock.advance_ms(90'000);
  CHECK(reason(tokens, "opaque") == "the token has expired");
  CHECK(asked == 1);
  CHECK(tokens.reload().empty());
  CHECK(tokens.must_ask("opaque"));
}

}  // namespace assay::mcp
