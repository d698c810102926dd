#include "server/mcp/http/http_admission.h"

#include <map>
#include <string>

#include "base/handle.h"
#include "server/mcp/http/http_server.h"
#include "server/mcp/oauth/access_tokens.h"
#include "tests/catch.h"

namespace assay::mcp {
namespace {

using Path = Admission::Path;

Admission::Decision decide(Admission& admission, const std::map<std::string, std::string>& headers,
                           Path path = Path::protocol, const std::string& remote = "127.0.0.1") {
  return admission.decide(
      [&headers](const char* name) -> std::optional<std::string> {
        const auto found = headers.find(name);
        return found == headers.end() ? std::nullopt : std::optional(found->second);
      },
      remote, path);
}

int status(Admission& admission, const std::map<std::string, std::string>& headers,
           Path path = Path::protocol) {
  const auto decision = decide(admission, headers, path);
  return decision.refusal ? decision.refusal->status : 200;
}

std::string header_of(const Reply& reply, const std::string& name) {
  for (const auto& [key, value] : reply.headers) {
    if (key == name) return value;
  }
  return "";
}

std::map<std::string, std::string> with_token(const std::string& authorization) {
  return {{"Host", "localhost"}, {"Authorization", authorization}};
}

HttpOptions guarded() {
  HttpOptions options;
  options.tokens = std::make_shared<const Tokens>(
      *Tokens::parse("alice practice,score sha256:" + sha256_hex("one") +
                         "\nbob practice sha256:" + sha256_hex("two"),
                     {"practice", "score"}));
  return options;
}

}  // namespace

TEST_CASE("admission: the names that the server accepts as Host and Origin") {
  HttpOptions options;
  options.allowed_hosts = {"assay.example.org"};
  Admission admission(options);
  CHECK(status(admission, {{"Host", "localhost:80"}}) == 200);
  CHECK(status(admission, {{"Host", "Assay.Example.ORG:443"}}) == 200);
  CHECK(status(admission, {}) == 400);
  CHECK(status(admission, {{"Host", "evil.example"}}) == 403);
  CHECK(status(admission, {{"Host", "assay.example.org.evil.example"}}) == 403);
  CHECK(status(admission, {{"Host", "evil.example"}}, Path::open) == 403);
  CHECK(status(admission, {{"Host", "localhost"}, {"Origin", "https://assay.example.org"}}) == 200);
  CHECK(status(admission, {{"Host", "localhost"}, {"Origin", "https://evil.example"}}) == 403);
  CHECK(status(admission, {{"Host", "localhost"}, {"Origin", "null"}}) == 403);
  CHECK(status(admission, {{"Host", "localhost"}, {"Origin", ""}}) == 403);
}

TEST_CASE("admission: tokens") {
  const HttpOptions options = guarded();
  Admission admission(options);
  const auto missing = decide(admission, {{"Host", "localhost"}});
  REQUIRE(missing.refusal);
  CHECK(missing.refusal->status == 401);
  CHECK(header_of(*missing.refusal, "WWW-Authenticate") == R"(Bearer realm="assay")");
  const auto wrong = decide(admission, with_token("Bearer three"));
  REQUIRE(wrong.refusal);
  CHECK(wrong.refusal->status == 401);
  CHECK(header_of(*wrong.refusal, "WWW-Authenticate").find("invalid_token") != std::string::npos);
  for (const char* other :
       {"", "Bearer", "Bearer ", "Basic one", "one", "Bearer one two", "Bearer  "})
    CHECK(status(admission, with_token(other)) == 401);
  const auto alice = decide(admission, with_token("bearer one"));
  REQUIRE_FALSE(alice.refusal);
  REQUIRE(alice.caller);
  CHECK(alice.caller->name == "alice");
  CHECK(decide(admission, with_token("Bearer two")).caller->name == "bob");
  CHECK(status(admission, {{"Host", "localhost"}}, Path::open) == 200);
}

TEST_CASE("admission: a token of the file that has expired") {
  ManualClock clock;
  HttpOptions options;
  const std::int64_t end_ms = 1'801'353'600'000;
  options.tokens = std::make_shared<const Tokens>(
      *Tokens::parse("alice practice sha256:" + sha256_hex("one") + " expires=2027-01-31T00:00:00Z",
                     {"practice", "score"}));
  Admission admission(options, clock);
  clock.advance_ms(end_ms - 1 - clock.unix_ms());
  CHECK(status(admission, with_token("Bearer one")) == 200);
  clock.advance_ms(1);
  const auto expired = decide(admission, with_token("Bearer one"));
  REQUIRE(expired.refusal);
  CHECK(expired.refusal->status == 401);
  CHECK(header_of(*expired.refusal, "WWW-Authenticate") ==
        R"(Bearer realm="assay", error="invalid_token")");
  CHECK(expired.refusal->body.find("has expired") != std::string::npos);
  CHECK(expired.caller == nullptr);
}

TEST_CASE("admission: the rate limit counts by token, and guesses by address") {
  HttpOptions options = guarded();
  options.rate_limit = {.per_second = 0.1, .burst = 2};
  Admission admission(options);
  CHECK(status(admission, with_token("Bearer one")) == 200);
  CHECK(status(admission, with_token("Bearer one")) == 200);
  const auto refused = decide(admission, with_token("Bearer one"));
  REQUIRE(refused.refusal);
  CHECK(refused.refusal->status == 429);
  CHECK(header_of(*refused.refusal, "Retry-After") == "10");
  const auto error = nlohmann::json::parse(refused.refusal->body)["error"];
  CHECK(error["message"].get<std::string>().rfind(
            "rate limit: 0.1 requests a second for token 'alice'", 0) == 0);
  CHECK(error["data"]["retryAfterMs"].get<int>() > 9000);
  CHECK(status(admission, with_token("Bearer two")) ==
        200);  // the requests of one caller do not count for another caller
  for (int i = 0; i < 2; ++i) CHECK(status(admission, with_token("Bearer guess")) == 401);
  CHECK(status(admission, with_token("Bearer guess")) == 429);
  CHECK(status(admission, with_token("Bearer two")) ==
        200);  // a valid token is accepted from the same address as the guesses
  CHECK(status(admission, with_token(""), Path::open) == 200);
}

TEST_CASE("admission: wrong tokens of an address do not keep its known opaque tokens out") {
  ManualClock clock;
  int asked = 0;
  const auto introspection = std::make_shared<Introspection>(
      [&asked](const std::string& token) -> Result<Introspection::Answer> {
        ++asked;
        return Introspection::Answer{
            200, token == "good"
                     ? R"({"active":true,"sub":"carol","aud":"here","scope":"practice","exp":4e9})"
                     : R"({"active":false})"};
      },
      IntrospectionLimits{.cache_ms = 1'000}, clock);
  const auto keys = std::make_shared<IssuerKeys>([] { return JwkSet::parse(R"({"keys":[]})"); });
  HttpOptions options = guarded();
  options.rate_limit = {.per_second = 0.001, .burst = 3};
  const TokenRules rules{.audiences = {"here"}, .scopes = {{"practice", "practice"}}};
  options.oauth = std::make_shared<const OAuth>(
      OAuth{ProtectedResource{"http://localhost/mcp", {"https://id"}, rules.scopes},
            AccessTokens({{"https://id", keys, false, introspection}}, rules, clock)});
  Admission admission(options, clock);
  // Requests without a token use up the rate limit of the address, but ask nobody.
  for (int i = 0; i < 3; ++i) CHECK(status(admission, {{"Host", "localhost"}}) == 401);
  CHECK(status(admission, {{"Host", "localhost"}}) == 429);
  CHECK(status(admission, with_token("Bearer good")) == 200);
  for (int i = 0; i < 2; ++i)
    CHECK(status(admission, with_token("Bearer guess_" + std::to_string(i))) == 401);
  CHECK(status(admission, with_token("Bearer guess_2")) == 429);
  CHECK(asked == 3);
  clock.advance_ms(1'000);  // the answer about the valid token is forgotten
  CHECK(status(admission, with_token("Bearer good")) == 200);
  CHECK(asked == 4);
  CHECK(status(admission, with_token("Bearer guess_3")) == 429);
}

TEST_CASE("admission: without tokens the rate limit counts by address") {
  HttpOptions options;
  options.rate_limit = {.per_second = 0.1, .burst = 1};
  Admission admission(options);
  const std::map<std::string, std::string> headers = {{"Host", "localhost"}};
  CHECK_FALSE(decide(admission, headers, Path::protocol, "10.0.0.1").refusal);
  CHECK(decide(admission, headers, Path::protocol, "10.0.0.1").refusal->status == 429);
  CHECK_FALSE(decide(admission, headers, Path::protocol, "10.0.0.2").refusal);
}

}  // namespace assay::mcp
