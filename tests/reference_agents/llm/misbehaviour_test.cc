// Tests the clients with a misbehaving HTTP server on the loopback device. Checks which requests
// are retried, and the errors of requests that are not retried.
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "reference_agents/llm/http_clients.h"
#include "tests/catch.h"
#include "tests/reference_agents/llm/local_http.h"

using namespace assay;
using namespace assay::agents;
using assay::agents::testing::Canned;
using assay::agents::testing::kKey;
using assay::agents::testing::LocalHttp;

namespace {

const std::string kGood =
    R"({"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}})";
const CompletionRequest kHello{"", {{"user", "hello"}}, {}, 10};

/// A client, and a server that answers with a list of responses. The pauses between retries take no
/// time.
struct Talk {
  LocalHttp server;
  std::vector<std::int64_t> sleeps;
  Endpoint endpoint;

  explicit Talk(std::vector<Canned> responses) : server(std::move(responses)) {
    endpoint.provider = "openai-compatible";
    endpoint.base_url = server.url() + "/v1";
    endpoint.model = "m";
    endpoint.api_key = kKey;
    endpoint.policy.attempts = 3;
    endpoint.policy.request_timeout_ms = 60'000;
    endpoint.clock.sleep_ms = [this](std::int64_t ms) { sleeps.push_back(ms); };
    endpoint.clock.uniform = [] { return 0.5; };
  }
  Result<CompletionReply> openai() { return OpenAiClient(endpoint).complete(kHello); }
  Result<CompletionReply> anthropic() { return AnthropicClient(endpoint).complete(kHello); }
  /// Returns the error of a request that must fail. Checks that the error does not contain the key.
  Error refusal() {
    const Result<CompletionReply> reply = openai();
    REQUIRE_FALSE(reply);
    CHECK(reply.error().message.find(kKey.substr(0, 8)) == std::string::npos);
    return reply.error();
  }
  std::size_t requests() { return server.received().size(); }
};

bool holds(const Error& error, const std::string& words) {
  return error.message.find(words) != std::string::npos;
}

/// Returns the response for each of the three tries.
std::vector<Canned> thrice(const Canned& response) { return {response, response, response}; }

Canned content(const std::string& json) {
  return {200, R"({"choices":[{"message":{"content":)" + json + R"(},"finish_reason":"stop"}]})",
          ""};
}

}  // namespace

TEST_CASE("429 without Retry-After: the pauses double; for ever: the provider's words") {
  Talk talk({{429, R"({"error":{"message":"slow down"}})", ""}, {429, "", ""}, {200, kGood, ""}});
  REQUIRE(talk.openai());
  CHECK(talk.sleeps == std::vector<std::int64_t>{500, 1'000});
  Talk refused({{429, "", ""},
                {429, "", ""},
                {429, R"({"error":{"message":"quota of today"}})", "Retry-After: 1\r\n"}});
  const Error error = refused.refusal();
  CHECK(error.code == ErrorCode::resource_exhausted);
  CHECK(holds(error, "HTTP 429 for model 'm': quota of today"));
  CHECK(refused.requests() == 3);
}

TEST_CASE("a Retry-After beyond the limit is not waited for") {
  Talk talk({{429, R"({"error":{"message":"come tomorrow"}})", "Retry-After: 86400\r\n"},
             {200, kGood, ""}});
  CHECK(holds(talk.refusal(), "come tomorrow"));
  CHECK(talk.requests() == 1);
  CHECK(talk.sleeps.empty());
}

TEST_CASE("a slow answer is a time-out and is asked for again") {
  Talk talk({{.body = kGood, .delay_ms = 20'000}, {200, kGood, ""}});
  talk.endpoint.policy.request_timeout_ms = 3'000;  // the second answer must come in time
  CHECK(talk.openai());
  CHECK(talk.requests() == 2);
  CHECK(talk.sleeps.size() == 1);
}

TEST_CASE("an answer that arrives byte by byte ends at the same timeout") {
  Talk talk({{.body = kGood, .delay_ms = 500, .drips = true}});
  talk.endpoint.policy.attempts = 1;
  talk.endpoint.policy.request_timeout_ms = 300;
  const auto start = std::chrono::steady_clock::now();
  const Error error = talk.refusal();
  CHECK(error.code == ErrorCode::unavailable);
  CHECK(holds(error, "did not answer within 300 ms"));
  CHECK(std::chrono::steady_clock::now() - start <
        std::chrono::seconds(30));  // the whole answer would take a minute
}

TEST_CASE("a truncated answer is retried") {
  Talk talk({{.body = kGood, .missing_bytes = 40}, {200, kGood, ""}});
  REQUIRE(talk.openai());
  CHECK(talk.requests() == 2);
  // Without a length, only the broken JSON shows that the answer is not complete.
  Talk unmarked(thrice({.body = kGood, .missing_bytes = 40, .has_length = false}));
  const Error error = unmarked.refusal();
  CHECK(error.code == ErrorCode::corrupt);
  CHECK(holds(error, R"(is not a JSON object: {"choices":[{"message":)"));
  CHECK(unmarked.requests() == 3);
}

TEST_CASE("an answer beyond the limit is refused before it is held") {
  for (const bool has_length : {true, false}) {
    Talk talk({{.body = std::string(200'000, ' ') + kGood, .has_length = has_length}});
    talk.endpoint.max_answer_bytes = 100'000;
    const Error error = talk.refusal();
    CHECK(error.code == ErrorCode::resource_exhausted);
    CHECK(holds(error, "larger than 100000 bytes"));
    CHECK(talk.requests() == 1);
  }
}

TEST_CASE("a reply of 200 KB is a reply") {
  Talk talk({content('"' + std::string(200'000, 'x') + '"')});
  CHECK(talk.openai()->text.size() == 200'000);
}

TEST_CASE("an answer 200 that is no reply is retried, and the notices do not contain the key") {
  Talk talk({{200, "<html>bad gateway</html>", ""},
             {503, R"({"error":{"message":"no backend for )" + kKey + R"("}})", ""},
             {200, kGood, ""}});
  std::vector<std::string> notices;
  CompletionRequest request = kHello;
  request.notice = [&](const std::string& text) { notices.push_back(text); };
  const Result<CompletionReply> reply = OpenAiClient(talk.endpoint).complete(request);
  REQUIRE(reply);
  CHECK(reply->text == "hi");
  CHECK(notices == std::vector<std::string>{"try 2 of 3 in 0.5 s: the answer is not a JSON object",
                                            "try 3 of 3 in 1.0 s: HTTP 503: no backend for [key]"});
}

TEST_CASE("malformed and malicious JSON is an error") {
  const std::string deep = R"({"choices":)" + std::string(1 << 20, '[');
  for (const std::string& body :
       {std::string(), std::string("null"), std::string("[]"), std::string("{\"choices\":[{"),
        std::string("\xff\xfe{}"), deep,
        std::string(R"({"choices":[{"message":{"content":"\ud800"}}]})"), kGood + kGood}) {
    Talk talk(thrice({200, body, ""}));
    CHECK(talk.refusal().code == ErrorCode::corrupt);
    CHECK(talk.requests() == 3);
  }
}

TEST_CASE("the error for JSON that is not a reply quotes the provider's message") {
  for (const char* body : {R"({"choices":[]})", R"({"choices":null})", R"({"choices":[{}]})",
                           R"({"choices":{"0":{}}})", R"({"choices":[{"message":"text"}]})"}) {
    Talk talk(thrice({200, body, ""}));
    const Error error = talk.refusal();
    CHECK(error.code == ErrorCode::corrupt);
    CHECK(holds(error, "no choices[0].message"));
  }
  Talk talk(thrice({200, R"({"error":{"message":"the backend of )" + kKey + R"( is gone"}})", ""}));
  CHECK(holds(talk.refusal(), "no choices[0].message: the backend of [key] is gone"));
  Talk other(thrice({200, R"({"type":"error","error":{"message":"overloaded"}})", ""}));
  CHECK(holds(other.anthropic().error(), "no content array: overloaded"));
}

TEST_CASE("content that is null, absent, in parts or of another type") {
  CHECK(Talk({content("null")}).openai()->text.empty());
  CHECK(Talk({{200, R"({"choices":[{"message":{}}]})", ""}}).openai()->text.empty());
  CHECK(Talk({content("7")}).openai()->text.empty());
  CHECK(
      Talk({content(R"([{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}])")})
          .openai()
          ->text == "ab");
}

TEST_CASE("Unicode comes through, escaped or not") {
  const Result<CompletionReply> reply =
      Talk({content(R"("# größer \u2264 \ud83d\ude00 \u0000 ∑")")}).openai();
  REQUIRE(reply);
  CHECK(reply->text == std::string("# größer ≤ 😀 ") + '\0' + " ∑");
}

TEST_CASE("a request may hold broken UTF-8, as a specification or a reply may") {
  Talk talk({{200, kGood, ""}});
  REQUIRE(OpenAiClient(talk.endpoint).complete({"", {{"user", "a\xff z"}}, {}, 10}));
  CHECK(talk.server.received()[0].body.find("a\xef\xbf\xbd z") != std::string::npos);
}

TEST_CASE("usage that is missing, half or absurd is not known and counts nothing") {
  const auto with_usage = [](const std::string& usage) {
    return Canned{
        200, R"({"choices":[{"message":{"content":"x"}}],"content":[],"usage":)" + usage + "}", ""};
  };
  for (
      const char* usage :
      {"null", "{}", "[]", R"({"prompt_tokens":5,"input_tokens":5})",
       R"({"completion_tokens":5,"output_tokens":5})",
       R"({"prompt_tokens":-5,"completion_tokens":5,"input_tokens":-5,"output_tokens":5})",
       R"({"prompt_tokens":1.5,"completion_tokens":5,"input_tokens":1.5,"output_tokens":5})",
       R"({"prompt_tokens":1e30,"completion_tokens":5,"input_tokens":1e30,"output_tokens":5})",
       R"({"prompt_tokens":18446744073709551615,"completion_tokens":5,"input_tokens":18446744073709551615,"output_tokens":5})"}) {
    INFO(usage);
    Talk talk({with_usage(usage), with_usage(usage)});
    for (const Result<CompletionReply>& reply : {talk.openai(), talk.anthropic()}) {
      REQUIRE(reply);
      CHECK_FALSE(reply->usage_known);
      CHECK(reply->input_tokens == 0);
      CHECK(reply->output_tokens == 0);
    }
  }
}

TEST_CASE("a refused key is not tried again, and no message shows it, not even where it is cut") {
  for (std::size_t before = 280; before < 300; before += 3) {
    Talk talk({{401, R"({"error":{"message":")" + std::string(before, 'x') + kKey + R"("}})", ""}});
    CHECK(talk.refusal().code == ErrorCode::permission_denied);
    CHECK(talk.requests() == 1);
  }
  Talk html({{403, std::string(290, 'x') + kKey, ""}});
  CHECK(html.refusal().code == ErrorCode::permission_denied);
}

TEST_CASE("a key that a reply echoes is removed, unless it is too short to be secret") {
  Talk talk(
      {content('"' + ("Bearer " + kKey) + '"'),
       {200,
        R"({"content":[{"type":"text","text":")" + kKey + R"("}],"stop_reason":")" + kKey + R"("})",
        ""}});
  CHECK(talk.openai()->text == "Bearer [key]");
  const Result<CompletionReply> reply = talk.anthropic();
  CHECK(reply->text == "[key]");
  CHECK(reply->stop_reason == "[key]");
  Talk local({content(R"("x = EMPTY")")});
  local.endpoint.api_key = "EMPTY";
  CHECK(local.openai()->text == "x = EMPTY");
}

TEST_CASE("a prompt that is refused, most often for its length, says nothing about the next one") {
  for (const int status : {400, 413, 422}) {
    Talk talk({{status, R"({"error":{"message":"maximum context length is 8192 tokens"}})", ""}});
    const Error error = talk.refusal();
    CHECK(error.code == ErrorCode::invalid_argument);
    CHECK(
        holds(error, "HTTP " + std::to_string(status) + " for model 'm': maximum context length"));
    CHECK(talk.requests() == 1);
  }
  for (const int status : {402, 403, 405, 410})
    CHECK(Talk({{status, "", ""}}).refusal().code == ErrorCode::permission_denied);
}

TEST_CASE("an account without credit is no refused prompt, whatever the status") {
  for (const char* words : {"Your Credit balance is too low", "check your plan and billing details",
                            "quota exceeded"}) {
    Talk talk({{400, R"({"error":{"message":")" + std::string(words) + R"("}})", ""}});
    CHECK(talk.refusal().code == ErrorCode::resource_exhausted);
  }
}

TEST_CASE("a redirect is not followed: the key stays where it was sent to") {
  Talk talk({{307, "", "Location: http://127.0.0.1:1/v1/chat/completions\r\n"}, {200, kGood, ""}});
  CHECK(holds(talk.refusal(), "HTTP 307"));
  CHECK(talk.requests() == 1);
}
