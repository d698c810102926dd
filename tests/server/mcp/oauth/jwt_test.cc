#include "server/mcp/oauth/jwt.h"

#include "tests/server/mcp/oauth/signing.h"

namespace assay::mcp {
namespace {

using test::base64url;

constexpr std::size_t kMaxBytes = 4096;

std::string unsigned_token(const std::string& header, const std::string& payload = "{}") {
  return base64url(header) + "." + base64url(payload) + ".c2ln";
}

ErrorCode refusal(const std::string& token) {
  const Result<Jwt> jwt = parse_jwt(token, kMaxBytes);
  REQUIRE_FALSE(jwt);
  return jwt.error().code;
}

}  // namespace

TEST_CASE("jwt: the parts of a token") {
  const auto jwt = parse_jwt(
      unsigned_token(R"({"alg":"ES256","kid":"k1","typ":"application/AT+JWT"})", R"({"iss":"i"})"),
      kMaxBytes);
  REQUIRE(jwt);
  CHECK(jwt->algorithm == SignatureAlgorithm::es256);
  CHECK(jwt->key_id == "k1");
  CHECK(jwt->type == "at+jwt");
  CHECK(jwt->claims["iss"] == "i");
  CHECK(jwt->signature == "sig");
  CHECK(jwt->signed_part == base64url(R"({"alg":"ES256","kid":"k1","typ":"application/AT+JWT"})") +
                                "." + base64url(R"({"iss":"i"})"));
}

TEST_CASE("jwt: only asymmetric algorithms") {
  for (const char* name : {"RS256", "PS256", "ES256", "EdDSA", "Ed25519"}) {
    INFO(name);
    CHECK(parse_jwt(unsigned_token(std::string(R"({"alg":")") + name + "\"}"), kMaxBytes));
  }
  for (const char* name : {"none", "None", "nOnE", "", "HS256", "HS384", "HS512", "RS1", "RS384",
                           "ES256K", "ES512", "Ed448", "rs256", "RSA-OAEP", "dir"}) {
    INFO(name);
    CHECK(refusal(unsigned_token(std::string(R"({"alg":")") + name + "\"}")) ==
          ErrorCode::unsupported);
  }
  CHECK(refusal(unsigned_token("{}")) == ErrorCode::unsupported);
  CHECK(refusal(unsigned_token(R"({"alg":null})")) == ErrorCode::corrupt);
  CHECK(refusal(unsigned_token(R"({"alg":["RS256"]})")) == ErrorCode::corrupt);
}

TEST_CASE("jwt: a header with critical extensions is refused") {
  for (const char* crit : {R"(["exp"])", R"(["b64"])", "[]", "null"}) {
    INFO(crit);
    CHECK(refusal(unsigned_token(std::string(R"({"alg":"RS256","crit":)") + crit + "}")) ==
          ErrorCode::unsupported);
  }
}

TEST_CASE("jwt: two members of the same name are refused in every object") {
  CHECK(refusal(unsigned_token(R"({"alg":"RS256","alg":"ES256"})")) == ErrorCode::corrupt);
  CHECK(refusal(unsigned_token(R"({"alg":"RS256"})", R"({"sub":"a","sub":"b"})")) ==
        ErrorCode::corrupt);
  CHECK(refusal(unsigned_token(R"({"alg":"RS256"})", R"({"sub":"a","\u0073ub":"b"})")) ==
        ErrorCode::corrupt);
  CHECK(refusal(unsigned_token(R"({"alg":"RS256"})", R"({"x":[{"a":1,"a":1}]})")) ==
        ErrorCode::corrupt);
  CHECK(parse_jwt(unsigned_token(R"({"alg":"RS256"})", R"({"x":{"a":1},"y":{"a":1}})"), kMaxBytes));
}

TEST_CASE("jwt: malformed tokens are refused") {
  const std::string fine = unsigned_token(R"({"alg":"RS256"})");
  REQUIRE(parse_jwt(fine, kMaxBytes));
  CHECK(refusal(fine + std::string(kMaxBytes, 'A')) == ErrorCode::resource_exhausted);
  const std::string header = base64url(R"({"alg":"RS256"})");
  for (const std::string& token :
       {std::string(),
        std::string("."),
        std::string(".."),
        header,
        header + ".e30",
        header + "..c2ln",
        header + ".e30.",
        fine + ".",
        fine + "=",
        fine + "\n",
        " " + fine,
        header + "=.e30.c2ln",
        header + ".e31.c2ln",  // unused bits of the last character are set
        header + ".e3+.c2ln",
        header + "." + base64url("[]") + ".c2ln",
        header + "." + base64url("{} {}") + ".c2ln",
        header + "." + base64url("{\"a\":\xff}") + ".c2ln",
        header + "." + base64url("{\"a\":\"\xff\"}") + ".c2ln",
        header + "." + base64url(R"({"a":[[[[[[[[[[1]]]]]]]]]]})") + ".c2ln",
        header + ".e30.c2ln.x.y"}) {
    INFO(token);
    CHECK(refusal(token) == ErrorCode::corrupt);
  }
  CHECK(refusal(unsigned_token(R"({"alg":"RS256","kid":7})")) == ErrorCode::corrupt);
  CHECK(refusal(unsigned_token(R"({"alg":"RS256","kid":")" + std::string(257, 'k') + "\"}")) ==
        ErrorCode::corrupt);
}

TEST_CASE("jwt: base64url has one form for each text") {
  CHECK(base64url_decode("") == "");
  CHECK(base64url_decode("_-8") == "\xff\xef");
  for (const char* wrong : {"_-8=", "/+8", "_-9", "A", "_-8\n", "_ 8"}) {
    INFO(wrong);
    CHECK_FALSE(base64url_decode(wrong));
  }
}

}  // namespace assay::mcp
