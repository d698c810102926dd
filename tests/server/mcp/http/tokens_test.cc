#include "server/mcp/http/tokens.h"

#include "base/handle.h"
#include "tests/catch.h"

namespace assay::mcp {
namespace {

const std::vector<std::string> kScopes = {"practice", "score"};

std::string line(const std::string& name, const std::string& scopes, const std::string& secret) {
  return name + " " + scopes + " sha256:" + sha256_hex(secret);
}

std::string problem(const std::string& text) {
  const auto tokens = Tokens::parse(text, kScopes);
  return tokens ? "" : tokens.error().message;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("tokens: only the secret finds its caller") {
  const auto tokens = Tokens::parse("# who may come\n\n" + line("alice", "practice,score", "one") +
                                        "\r\n  " + line("bob", "practice", "two"),
                                    kScopes);
  REQUIRE(tokens);
  CHECK(tokens->size() == 2);
  const auto alice = tokens->find("one");
  REQUIRE(alice);
  CHECK(alice->name == "alice");
  CHECK((alice->allows("practice") && alice->allows("score")));
  CHECK_FALSE(tokens->find("two")->allows("score"));
  for (const std::string& wrong :
       {std::string(""), std::string("on"), std::string("one "), std::string("ONE"),
        sha256_hex("one"), std::string("one\0", 4)}) {
    CHECK(tokens->find(wrong) == nullptr);
  }
}

TEST_CASE("tokens: an error of the file names its line") {
  CHECK(has(problem(""), "assay token new"));
  CHECK(has(problem("# nothing\n"), "no token"));
  CHECK(has(problem("\nalice practice\n"), "line 2: must be NAME"));
  CHECK(has(problem(line("al ice", "practice", "x")), "line 1: must be NAME"));
  CHECK(has(problem(line("alice!", "practice", "x")), "letters, digits"));
  CHECK(has(problem(line(std::string(65, 'a'), "practice", "x")), "1 to 64"));
  CHECK(has(problem(line("alice", "admin", "x")), "unknown scope 'admin'; valid: practice, score"));
  CHECK(has(problem(line("alice", ",", "x")), "needs a scope"));
  CHECK(has(problem("alice practice sha256:abc"), "64 lower-case"));
  CHECK(has(problem("alice practice sha256:" + std::string(64, 'G')), "64 lower-case"));
  CHECK(has(problem("alice practice " + sha256_hex("x")), "sha256:"));
  CHECK(has(problem(line("alice", "practice", "x") + "\n" + line("alice", "practice", "y")),
            "line 2: there are two tokens named 'alice'"));
  CHECK(has(problem(line("alice", "practice", "x") + "\n" + line("bob", "practice", "x")),
            "same secret as 'alice'"));
}

TEST_CASE("tokens: a new one is found by its secret, which the file does not contain") {
  const auto made = new_token("ci-1", {"practice", "score"}, kScopes);
  REQUIRE(made);
  CHECK(is_handle(made->secret, "assay"));
  CHECK_FALSE(has(made->line, made->secret));
  const auto tokens = Tokens::parse(made->line, kScopes);
  REQUIRE(tokens);
  CHECK(tokens->find(made->secret)->name == "ci-1");
  CHECK(new_token("ci-1", {"practice"}, kScopes)->secret != made->secret);
  CHECK_FALSE(new_token("", {"practice"}, kScopes));
  CHECK_FALSE(new_token("a b", {"practice"}, kScopes));
  CHECK(has(new_token("a", {"root"}, kScopes).error().message, "valid: practice, score"));
  CHECK_FALSE(new_token("a", {}, kScopes));
}

TEST_CASE("tokens: a token can have an end") {
  const std::string alice = line("alice", "practice", "one");
  const auto tokens = Tokens::parse(
      alice + " expires=2027-01-31T00:00:00Z\n" + line("bob", "practice", "two"), kScopes);
  REQUIRE(tokens);
  CHECK(tokens->find("one")->expires_unix_ms == 1'801'353'600'000);
  CHECK(tokens->find("two")->expires_unix_ms == 0);
  CHECK(has(problem(alice + " expires=tomorrow"), "line 1: 'tomorrow' is no time; valid: 2027-"));
  CHECK(has(problem(alice + " until=2027-01-31T00:00:00Z"),
            "must be NAME SCOPE[,SCOPE] sha256:HEX [expires=TIME]"));
  CHECK(has(problem(alice + " expires=2027-01-31T00:00:00Z x"), "must be NAME"));
  const auto made = new_token("ci", {"practice"}, kScopes, "2027-01-31T00:00:00Z");
  REQUIRE(made);
  CHECK(Tokens::parse(made->line, kScopes)->find(made->secret)->expires_unix_ms ==
        1'801'353'600'000);
  CHECK(has(new_token("ci", {"practice"}, kScopes, "soon").error().message, "is no time"));
}

TEST_CASE("tokens: the tokens of a newer file replace all older ones") {
  const auto old = new_token("old", {"practice"}, kScopes);
  const auto other = new_token("new", {"score"}, kScopes);
  auto tokens = Tokens::parse(old->line, kScopes);
  auto newer = Tokens::parse(other->line, kScopes);
  REQUIRE(tokens);
  REQUIRE(newer);
  const std::shared_ptr<const Caller> admitted = tokens->find(old->secret);
  REQUIRE(admitted);
  tokens->replace(std::move(*newer));
  CHECK(tokens->find(old->secret) == nullptr);
  CHECK(tokens->find(other->secret)->name == "new");
  CHECK(tokens->size() == 1);
  CHECK(admitted->name == "old");  // a request that was admitted before goes on
}

}  // namespace assay::mcp
