// Tests the clients of both protocols with a real HTTP server on the loopback device.
#include <cstdint>

#include "base/json.h"
#include "reference_agents/llm/http_clients.h"
#include "tests/catch.h"
#include "tests/reference_agents/llm/local_http.h"

using namespace assay;
using namespace assay::agents;
using assay::agents::testing::Canned;
using assay::agents::testing::kKey;
using assay::agents::testing::LocalHttp;
using nlohmann::json;

namespace {

struct Sleeps {
  std::vector<std::int64_t> ms;
};

Endpoint endpoint_at(const LocalHttp& server, const std::string& provider, Sleeps& sleeps) {
  Endpoint endpoint;
  endpoint.provider = provider;
  endpoint.base_url = server.url() + "/v1";
  endpoint.model = "m-1";
  endpoint.api_key = kKey;
  endpoint.policy.attempts = 3;
  endpoint.policy.request_timeout_ms = 60'000;
  endpoint.clock.sleep_ms = [&sleeps](std::int64_t ms) { sleeps.ms.push_back(ms); };
  endpoint.clock.uniform = [] { return 0.5; };
  return endpoint;
}

const CompletionRequest kRequest{"be brief", {{"user", "hello"}}, 1.0, 77};

const std::string kOpenAiReply =
    R"({"choices":[{"message":{"role":"assistant","content":"hi there"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":34}})";
const std::string kAnthropicReply =
    R"({"content":[{"type":"thinking","thinking":"..."},{"type":"text","text":"hi "},{"type":"text","text":"there"}],"stop_reason":"end_turn",
        "usage":{"input_tokens":10,"cache_read_input_tokens":2,"output_tokens":34}})";

}  // namespace

TEST_CASE("openai: request, reply and usage") {
  LocalHttp server({{200, kOpenAiReply, ""}});
  Sleeps sleeps;
  OpenAiClient client(endpoint_at(server, "openai", sleeps));
  const Result<CompletionReply> reply = client.complete(kRequest);
  REQUIRE(reply);
  CHECK(reply->text == "hi there");
  CHECK(reply->stop_reason == "stop");
  CHECK(reply->input_tokens == 12);
  CHECK(reply->output_tokens == 34);
  CHECK(reply->usage_known);
  CHECK(client.label() == "openai:m-1");
  const auto received = server.received();
  REQUIRE(received.size() == 1);
  CHECK(received[0].request_line == "POST /v1/chat/completions HTTP/1.1");
  CHECK(received[0].headers.at("authorization") == "Bearer " + kKey);
  const json body = json::parse(received[0].body);
  CHECK(body["model"] == "m-1");
  CHECK(body["max_completion_tokens"] == 77);
  CHECK(body["temperature"] == 1.0);
  CHECK(
      body["messages"] ==
      json::parse(R"([{"role":"system","content":"be brief"},{"role":"user","content":"hello"}])"));
}

TEST_CASE(
    "openai-compatible: the older name of the token limit, temperature and key only if given") {
  LocalHttp server({{200, kOpenAiReply, ""}});
  Sleeps sleeps;
  Endpoint endpoint = endpoint_at(server, "openai-compatible", sleeps);
  endpoint.api_key.clear();
  CompletionRequest request = kRequest;
  request.temperature.reset();
  REQUIRE(OpenAiClient(endpoint).complete(request));
  const auto received = server.received();
  const json body = json::parse(received.at(0).body);
  CHECK(body["max_tokens"] == 77);
  CHECK_FALSE(body.contains("max_completion_tokens"));
  CHECK_FALSE(body.contains("temperature"));
  CHECK(received[0].headers.count("authorization") == 0);
}

TEST_CASE("anthropic: request, reply and usage") {
  LocalHttp server({{200, kAnthropicReply, ""}});
  Sleeps sleeps;
  AnthropicClient client(endpoint_at(server, "anthropic", sleeps));
  const Result<CompletionReply> reply = client.complete(kRequest);
  REQUIRE(reply);
  CHECK(reply->text == "hi there");
  CHECK(reply->stop_reason == "end_turn");
  CHECK(reply->input_tokens == 12);
  CHECK(reply->output_tokens == 34);
  const auto received = server.received();
  REQUIRE(received.size() == 1);
  CHECK(received[0].request_line == "POST /v1/messages HTTP/1.1");
  CHECK(received[0].headers.at("x-api-key") == kKey);
  CHECK(received[0].headers.at("anthropic-version") == "2023-06-01");
  const json body = json::parse(received[0].body);
  CHECK(body["system"] == "be brief");
  CHECK(body["max_tokens"] == 77);
  CHECK(body["messages"] == json::parse(R"([{"role":"user","content":"hello"}])"));
}

TEST_CASE("429 with Retry-After, then 500, then a reply: two pauses, at least as long as asked") {
  LocalHttp server({{429, R"({"error":{"message":"slow down"}})", "Retry-After: 7\r\n"},
                    {500, "oops", ""},
                    {200, kOpenAiReply, ""}});
  Sleeps sleeps;
  const Result<CompletionReply> reply =
      OpenAiClient(endpoint_at(server, "openai", sleeps)).complete(kRequest);
  REQUIRE(reply);
  // The first pause is the 7 s of Retry-After plus a jitter of 500 ms. The maximum of the second
  // pause is 2,000 ms, and the fixed jitter halves it.
  CHECK(sleeps.ms == std::vector<std::int64_t>{7'500, 1'000});
  CHECK(server.received().size() == 3);
}

TEST_CASE("errors carry the provider's words, the right code, and never the key") {
  Sleeps sleeps;
  SECTION("a refused key is not tried again") {
    LocalHttp server(
        {{401, R"({"error":{"message":"Incorrect API key provided: )" + kKey + R"("}})", ""}});
    const Result<CompletionReply> reply =
        OpenAiClient(endpoint_at(server, "openai", sleeps)).complete(kRequest);
    REQUIRE_FALSE(reply);
    CHECK(reply.error().code == ErrorCode::permission_denied);
    CHECK(reply.error().message.find("HTTP 401") != std::string::npos);
    CHECK(reply.error().message.find("Incorrect API key provided: [key]") != std::string::npos);
    CHECK(server.received().size() == 1);
  }
  SECTION("an unknown model") {
    LocalHttp server(
        {{404, R"({"type":"error","error":{"type":"not_found_error","message":"model: m-1"}})",
          ""}});
    const Result<CompletionReply> reply =
        AnthropicClient(endpoint_at(server, "anthropic", sleeps)).complete(kRequest);
    REQUIRE_FALSE(reply);
    CHECK(reply.error().code == ErrorCode::not_found);
    CHECK(reply.error().message.find("model: m-1") != std::string::npos);
  }
  SECTION("503 for ever ends after the last attempt") {
    LocalHttp server({{503, "a", ""}, {503, "b", ""}, {503, "c", ""}, {200, kOpenAiReply, ""}});
    const Result<CompletionReply> reply =
        OpenAiClient(endpoint_at(server, "openai", sleeps)).complete(kRequest);
    REQUIRE_FALSE(reply);
    CHECK(reply.error().code == ErrorCode::unavailable);
    CHECK(server.received().size() == 3);
    CHECK(sleeps.ms.size() == 2);
  }
  SECTION("malformed JSON") {
    const Canned page{200, "<html>gateway\n\x01</html>", ""};
    LocalHttp server({page, page, page});
    const Result<CompletionReply> reply =
        OpenAiClient(endpoint_at(server, "openai", sleeps)).complete(kRequest);
    REQUIRE_FALSE(reply);
    CHECK(reply.error().code == ErrorCode::corrupt);
    CHECK(reply.error().message.find("<html>gateway </html>") != std::string::npos);
  }
  SECTION("JSON of another shape") {
    const Canned choices{200, R"({"choices":[]})", ""};
    const Canned content{200, R"({"content":"text"})", ""};
    LocalHttp server({choices, choices, choices, content, content, content});
    CHECK(OpenAiClient(endpoint_at(server, "openai", sleeps)).complete(kRequest).error().code ==
          ErrorCode::corrupt);
    CHECK(
        AnthropicClient(endpoint_at(server, "anthropic", sleeps)).complete(kRequest).error().code ==
        ErrorCode::corrupt);
  }
  SECTION("a port without a server") {
    Endpoint endpoint;
    {
      LocalHttp server({});
      endpoint = endpoint_at(server, "openai", sleeps);
    }
    const Result<CompletionReply> reply = OpenAiClient(endpoint).complete(kRequest);
    REQUIRE_FALSE(reply);
    CHECK(reply.error().code == ErrorCode::unavailable);
    CHECK(sleeps.ms.size() == 2);
    CHECK(reply.error().message.find(kKey) == std::string::npos);
  }
}

TEST_CASE("a reply without usage or with a refusal is still a reply") {
  LocalHttp server(
      {{200, R"({"choices":[{"message":{"content":null},"finish_reason":"content_filter"}]})",
        ""}});
  Sleeps sleeps;
  const Result<CompletionReply> reply =
      OpenAiClient(endpoint_at(server, "openai", sleeps)).complete(kRequest);
  REQUIRE(reply);
  CHECK(reply->text.empty());
  CHECK(reply->stop_reason == "content_filter");
  CHECK_FALSE(reply->usage_known);
}

TEST_CASE("endpoints: what is no URL, a key in clear over the network, a key with a line end") {
  Endpoint endpoint;
  endpoint.provider = "openai-compatible";
  for (const char* bad : {"", "localhost:8000", "ftp://host/v1", "http://", "https://user@host/v1",
                          "https://host/v1?key=k", "https://host/v1#x"}) {
    endpoint.base_url = bad;
    CHECK_FALSE(check_endpoint(endpoint));
  }
  endpoint.api_key = "key";
  endpoint.base_url = "http://llm.example/v1";
  CHECK(check_endpoint(endpoint).error().message.find("in clear to llm.example") !=
        std::string::npos);
  for (const char* good : {"https://llm.example/v1", "http://localhost:8000/v1",
                           "http://127.0.0.1:1", "http://[::1]:1/v1"}) {
    endpoint.base_url = good;
    CHECK(check_endpoint(endpoint));
  }
  endpoint.api_key = "key\r\nX-Evil: 1";
  CHECK_FALSE(check_endpoint(endpoint));
}
