#include "reference_agents/llm/endpoint.h"

#include <cstdint>
#include <string>
#include <vector>

#include "tests/catch.h"

using namespace assay;
using namespace assay::agents;

namespace {

struct Fixture {
  std::vector<std::int64_t> sleeps;
  double chance = 0.5;
  RetryClock clock;
  Fixture() {
    clock.sleep_ms = [this](std::int64_t ms) { sleeps.push_back(ms); };
    clock.uniform = [this] { return chance; };
    clock.unix_ms = [] {
      return std::int64_t{1'000'000'000'000};
    };  // Sun, 09 Sep 2001 01:46:40 GMT
  }
};

}  // namespace

TEST_CASE("Retry-After: seconds, fractions, dates, rubbish") {
  const std::int64_t now = 1'000'000'000'000;
  CHECK(parse_retry_after("7", now) == 7'000);
  CHECK(parse_retry_after("0.25", now) == 250);
  CHECK(parse_retry_after("0", now) == 0);
  CHECK(parse_retry_after("Sun, 09 Sep 2001 01:46:55 GMT", now) == 15'000);
  CHECK(parse_retry_after("Sun, 09 Sep 2001 01:46:00 GMT", now) == 0);
  for (const char* bad : {"", "soon", "-1", "nan", "1e99", "7s", "Sun, 09 Sep 2001"})
    CHECK_FALSE(parse_retry_after(bad, now));
}

TEST_CASE("pauses double, are capped and jittered") {
  Fixture fixture;
  RetryPolicy policy;
  policy.attempts = 6;
  policy.first_pause_ms = 1'000;
  policy.longest_pause_ms = 5'000;
  int calls = 0;
  const auto send = [&]() -> Result<mcp::HttpResponse> {
    ++calls;
    return mcp::HttpResponse{500, {}, ""};
  };
  const Result<mcp::HttpResponse> response = post_with_retries(send, policy, fixture.clock);
  REQUIRE(response);
  CHECK(response->status == 500);
  CHECK(calls == 6);
  CHECK(fixture.sleeps == std::vector<std::int64_t>{500, 1'000, 2'000, 2'500, 2'500});
}

TEST_CASE("what is retried and what is not") {
  Fixture fixture;
  RetryPolicy policy;
  policy.attempts = 2;
  const auto calls_for = [&](const Result<mcp::HttpResponse>& answer) {
    int calls = 0;
    (void)post_with_retries(
        [&] {
          ++calls;
          return answer;
        },
        policy, fixture.clock);
    return calls;
  };
  for (const int status : {408, 429, 500, 502, 503, 529})
    CHECK(calls_for(mcp::HttpResponse{status, {}, ""}) == 2);
  for (const int status : {200, 400, 401, 403, 404, 422})
    CHECK(calls_for(mcp::HttpResponse{status, {}, ""}) == 1);
  CHECK(calls_for(fail(ErrorCode::io, "connection reset")) == 2);
  CHECK(calls_for(fail(ErrorCode::unavailable, "timed out")) == 2);
  CHECK(calls_for(fail(ErrorCode::invalid_argument, "bad URL")) == 1);
}

TEST_CASE("a server that asks for a pause of an hour is not retried") {
  Fixture fixture;
  int calls = 0;
  const Result<mcp::HttpResponse> response = post_with_retries(
      [&]() -> Result<mcp::HttpResponse> {
        ++calls;
        return mcp::HttpResponse{429, {{"retry-after", "3600"}}, ""};
      },
      RetryPolicy{}, fixture.clock);
  REQUIRE(response);
  CHECK(calls == 1);
  CHECK(fixture.sleeps.empty());
}

TEST_CASE("a response 200 that is no answer is retried, and each retry is announced") {
  Fixture fixture;
  RetryPolicy policy;
  policy.attempts = 3;
  int calls = 0;
  std::vector<std::string> notices;
  RetryHooks hooks;
  hooks.defect = [](const mcp::HttpResponse& response) -> std::string {
    return response.body == "good" ? "" : "the answer is not a JSON object";
  };
  hooks.notice = [&](const std::string& text) { notices.push_back(text); };
  const Result<mcp::HttpResponse> response = post_with_retries(
      [&]() -> Result<mcp::HttpResponse> {
        ++calls;
        if (calls == 1) return fail(ErrorCode::io, "connection refused");
        return mcp::HttpResponse{200, {}, calls == 2 ? "<html>" : "good"};
      },
      policy, fixture.clock, hooks);
  REQUIRE(response);
  CHECK(response->body == "good");
  CHECK(notices ==
        std::vector<std::string>{"try 2 of 3 in 0.5 s: connection refused",
                                 "try 3 of 3 in 1.0 s: the answer is not a JSON object"});
}
