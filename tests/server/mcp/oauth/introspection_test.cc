#include "server/mcp/oauth/introspection.h"

#include <atomic>
#include <future>
#include <latch>
#include <vector>

#include "base/mutex.h"
#include "tests/catch.h"

namespace assay::mcp {
namespace {

using nlohmann::json;

/// An issuer whose answers a test can change.
struct AskedIssuer {
  ManualClock clock;
  std::atomic<int> asked{0};
  int status = 200;
  std::string body = R"({"active":true,"sub":"alice"})";
  bool answers = true;

  Introspection introspection(const IntrospectionLimits& limits = {}) {
    return Introspection(
        [this](const std::string&) -> Result<Introspection::Answer> {
          ++asked;
          if (!answers) return fail(ErrorCode::unavailable, "no answer");
          return Introspection::Answer{status, body};
        },
        limits, clock);
  }
};

ErrorCode problem_of(Introspection& introspection, const std::string& token = "t") {
  const auto claims = introspection.claims_of(token);
  REQUIRE_FALSE(claims);
  CHECK((token.size() < 5 || claims.error().message.find(token) == std::string::npos));
  return claims.error().code;
}

}  // namespace

TEST_CASE("introspection: an answer is used again until its time is over") {
  AskedIssuer issuer;
  Introspection introspection = issuer.introspection({.cache_ms = 1000});
  CHECK_FALSE(introspection.knows("t"));
  for (int i = 0; i < 3; ++i) CHECK((*introspection.claims_of("t"))->at("sub") == "alice");
  CHECK(issuer.asked == 1);
  CHECK(introspection.knows("t"));
  CHECK_FALSE(introspection.knows("u"));
  issuer.body = R"({"active":false})";
  issuer.clock.advance_ms(999);
  CHECK(introspection.claims_of("t"));
  issuer.clock.advance_ms(1);
  CHECK_FALSE(introspection.knows("t"));
  CHECK(problem_of(introspection) == ErrorCode::corrupt);  // the issuer withdrew it
  CHECK(problem_of(introspection) == ErrorCode::corrupt);
  CHECK(issuer.asked == 2);
}

TEST_CASE("introspection: forgotten answers and a time of 0 make it ask again") {
  AskedIssuer issuer;
  Introspection introspection = issuer.introspection();
  CHECK(introspection.claims_of("t"));
  introspection.forget();
  CHECK(introspection.claims_of("t"));
  CHECK(issuer.asked == 2);
  Introspection always = issuer.introspection({.cache_ms = 0});
  CHECK(always.claims_of("t"));
  CHECK(always.claims_of("t"));
  CHECK(issuer.asked == 4);
}

TEST_CASE("introspection: a token is familiar until the issuer calls it invalid, or for a day") {
  AskedIssuer issuer;
  Introspection introspection = issuer.introspection({.cache_ms = 1'000});
  CHECK_FALSE(introspection.familiar("t"));
  CHECK(introspection.claims_of("t"));
  issuer.clock.advance_ms(1'000);
  CHECK(introspection.familiar("t"));
  CHECK_FALSE(introspection.familiar("u"));
  CHECK(introspection.claims_of("t"));
  issuer.clock.advance_ms(86'400'000 - 1'000);
  CHECK_FALSE(introspection.familiar("t"));
  CHECK(introspection.claims_of("t"));
  issuer.clock.advance_ms(1'000);
  issuer.body = R"({"active":false})";
  CHECK(problem_of(introspection) == ErrorCode::corrupt);
  CHECK_FALSE(introspection.familiar("t"));
}

TEST_CASE("introspection: trouble of the issuer says nothing about the token and opens no door") {
  AskedIssuer issuer;
  Introspection introspection = issuer.introspection();
  for (const int status : {201, 204, 302, 400, 401, 403, 404, 429, 500, 503}) {
    INFO(status);
    issuer.status = status;
    CHECK(problem_of(introspection, "secret_1") == ErrorCode::unavailable);
  }
  issuer.status = 200;
  for (const char* body :
       {"", "true", "[]", "{}", R"({"active":"true"})", R"({"active":1})", R"({"active":null})",
        R"({"active":true)", R"({"active":false,"active":true})", "<html>"}) {
    INFO(body);
    issuer.body = body;
    CHECK(problem_of(introspection) == ErrorCode::unavailable);
  }
  issuer.body = R"({"active":true})";
  CHECK(introspection.claims_of("t"));  // trouble is not remembered
}

TEST_CASE("introspection: an issuer that cannot be reached is left alone for a moment") {
  AskedIssuer issuer;
  issuer.answers = false;
  Introspection introspection = issuer.introspection({.cache_ms = 60'000, .pause_ms = 1000});
  for (const char* token : {"t", "u", "v"})
    CHECK(problem_of(introspection, token) == ErrorCode::unavailable);
  CHECK(issuer.asked == 1);
  issuer.answers = true;
  CHECK(problem_of(introspection) == ErrorCode::unavailable);
  issuer.clock.advance_ms(1000);
  CHECK(introspection.claims_of("t"));
  // A remembered answer is used while the issuer is silent, but no longer than usual.
  issuer.answers = false;
  CHECK(introspection.claims_of("t"));
  issuer.clock.advance_ms(60'000);
  CHECK(problem_of(introspection) == ErrorCode::unavailable);
}

TEST_CASE("introspection: the oldest answers are forgotten first, and guesses replace no client") {
  AskedIssuer issuer;
  Introspection introspection = issuer.introspection({.max_known = 2});
  for (const char* token : {"a", "b"}) CHECK(introspection.claims_of(token));
  issuer.body = R"({"active":false})";
  for (int i = 0; i < 5; ++i) problem_of(introspection, std::to_string(i));
  CHECK(introspection.knows("a"));
  CHECK(introspection.knows("4"));
  CHECK_FALSE(introspection.knows("2"));
  issuer.body = R"({"active":true})";
  CHECK(introspection.claims_of("c"));
  CHECK_FALSE(introspection.knows("a"));
  CHECK(introspection.knows("b"));
}

TEST_CASE("introspection: requests about one token wait for one answer, and a few ask at a time") {
  std::latch two_ask(2), go_on(1);
  std::atomic<int> asked{0}, at_once{0}, most{0};
  Introspection introspection(
      [&](const std::string&) -> Result<Introspection::Answer> {
        ++asked;
        const int now = ++at_once;
        if (now > most) most = now;
        two_ask.count_down(asked <= 2 ? 1 : 0);
        go_on.wait();
        --at_once;
        return Introspection::Answer{200, R"({"active":true})"};
      },
      {.max_asking = 2, .wait_ms = 60'000});
  std::vector<std::future<bool>> requests;
  for (const char* token : {"a", "b", "a", "b", "a", "c"})
    requests.push_back(std::async(std::launch::async, [&introspection, token] {
      return introspection.claims_of(token).has_value();
    }));
  two_ask.wait();
  go_on.count_down();
  for (auto& request : requests) CHECK(request.get());
  CHECK(asked == 3);
  CHECK(most == 2);
}

TEST_CASE("introspection: a request that nobody can serve in time gets no verdict") {
  std::latch asks(1), go_on(1);
  ManualClock clock;
  Introspection introspection(
      [&](const std::string&) -> Result<Introspection::Answer> {
        asks.count_down();
        go_on.wait();
        return Introspection::Answer{200, R"({"active":true})"};
      },
      {.max_asking = 1, .max_waiting = 0}, clock);
  auto first = std::async(std::launch::async, [&] { return introspection.claims_of("a"); });
  asks.wait();
  CHECK(problem_of(introspection, "b") == ErrorCode::unavailable);
  introspection.forget();  // the answer that is on its way is used, and not remembered
  go_on.count_down();
  CHECK(first.get());
  CHECK_FALSE(introspection.knows("a"));
}

}  // namespace assay::mcp
