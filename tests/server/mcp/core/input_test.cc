// Tests input from the client: the signed state, the capabilities, and one handler in both protocol
// eras.

#include "server/mcp/core/input.h"

#include "server/mcp/core/session.h"
#include "server/mcp/core/signed_state.h"
#include "tests/server/mcp/fixture.h"

namespace assay::mcp {
namespace {

using namespace test;

/// Handles a call: asks the client for a name, then for a colour. The state keeps the name until
/// the client has answered the second question.
ToolResult ask_twice(const json&, RequestContext& context) {
  const auto need = [](const char* key, std::string state) {
    ToolResult out;
    out.input_required =
        InputRequired{{{key, elicitation(key, {{"type", "object"}})}}, std::move(state)};
    return out;
  };
  if (context.inputs.contains("name")) return need("colour", context.inputs["name"]["content"]);
  if (context.inputs.contains("colour"))
    return {false, context.state + " likes " + context.inputs["colour"].value("content", ""),
            nullptr};
  return need("name", "");
}

std::unique_ptr<Server> make_asking_server() {
  auto server = make_server();
  Tool tool{"ask",   "",      "Asks.",  object_schema({{"x", {{"type", "integer"}}}}),
            nullptr, nullptr, ask_twice};
  tool.interactive = true;
  REQUIRE(server->add_tool(std::move(tool)));
  return server;
}

json call(json arguments, json extra = json::object(),
          json capabilities = {{"elicitation", json::object()}}) {
  json message = stateless_call(1, "ask", std::move(arguments),
                                {{kMetaClientCapabilities, std::move(capabilities)}});
  message["params"].update(extra);
  return message;
}

}  // namespace

TEST_CASE("signed state: it opens for the same request only") {
  const SignedState seal(random_key(), std::chrono::minutes(1));
  const std::string binding = binding_of(
      "tools/call",
      {{"name", "a"}, {"arguments", {{"x", 1}}}, {"requestState", "old"}, {"_meta", 1}}, "alice");
  const std::string sent = seal.seal("secret: state", binding);
  CHECK(seal.open(sent, binding) == "secret: state");
  CHECK(seal.open(sent, binding_of("tools/call", {{"name", "a"}, {"arguments", {{"x", 1}}}},
                                   "alice")) == "secret: state");
  CHECK_FALSE(seal.open(
      sent, binding_of("tools/call", {{"name", "a"}, {"arguments", {{"x", 2}}}}, "alice")));
  CHECK_FALSE(seal.open(
      sent, binding_of("prompts/get", {{"name", "a"}, {"arguments", {{"x", 1}}}}, "alice")));
  CHECK_FALSE(
      seal.open(sent, binding_of("tools/call", {{"name", "a"}, {"arguments", {{"x", 1}}}}, "bob")));
  CHECK_FALSE(SignedState(random_key(), std::chrono::minutes(1)).open(sent, binding));
  for (std::size_t i = 0; i < sent.size(); ++i) {
    std::string forged = sent;
    forged[i] = forged[i] == 'A' ? 'B' : 'A';
    CHECK_FALSE(seal.open(forged, binding));
  }
  for (const char* bad : {"", "x", "AAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"})
    CHECK_FALSE(seal.open(bad, binding));
  const SignedState brief("key", std::chrono::milliseconds(0));
  CHECK_FALSE(brief.open(brief.seal("s", binding), binding));
  CHECK(seal.open(seal.seal("", binding), binding) == "");
}

TEST_CASE("input: a stateless client retries until the handler knows enough") {
  const auto server = make_asking_server();
  const json first = response_to(*server, call({{"x", 1}}))["result"];
  CHECK(first["resultType"] == "input_required");
  CHECK(first["inputRequests"]["name"]["method"] == "elicitation/create");
  CHECK_FALSE(first.contains("requestState"));
  CHECK_FALSE(first.contains("content"));
  const json second = response_to(
      *server,
      call({{"x", 1}}, {{"inputResponses",
                         {{"name", {{"content", "Ada"}}}, {"extra", json::object()}}}}))["result"];
  CHECK(second["resultType"] == "input_required");
  const json answer = {{"inputResponses", {{"colour", {{"content", "blue"}}}}},
                       {"requestState", second["requestState"]}};
  const json third = response_to(*server, call({{"x", 1}}, answer))["result"];
  CHECK(third["content"][0]["text"] == "Ada likes blue");
  CHECK(third["resultType"] == "complete");
  const json other = response_to(*server, call({{"x", 2}}, answer))["error"];
  CHECK(other["code"] == kInvalidParams);
  CHECK(other["message"].get<std::string>().find("requestState") != std::string::npos);
}

TEST_CASE("input: malformed answers and states are refused") {
  const auto server = make_asking_server();
  for (const json& extra : {json{{"inputResponses", nullptr}}, json{{"inputResponses", 1}},
                            json{{"inputResponses", {{"name", 5}}}}, json{{"requestState", 7}},
                            json{{"requestState", "forged"}}}) {
    INFO(extra.dump());
    CHECK(response_to(*server, call(json::object(), extra))["error"]["code"] == kInvalidParams);
  }
}

TEST_CASE("input: a client is asked only for what it declared") {
  const auto server = make_asking_server();
  const auto parsed =
      parse_message(dump(call(json::object(), json::object(), {{"sampling", json::object()}})));
  const Outcome outcome = server->dispatcher().handle(*parsed, {});
  CHECK(outcome.http_status == 400);
  CHECK((*outcome.response)["error"]["code"] == kMissingCapability);
  CHECK((*outcome.response)["error"]["data"]["requiredCapabilities"] ==
        json{{"elicitation", json::object()}});
}

TEST_CASE("input: a legacy client is asked during the call, by the same handler") {
  const auto server = make_asking_server();
  auto session = std::make_shared<Session>("here", [](const json&) {});
  std::vector<std::thread> answers;
  TransportContext exchange;
  exchange.session = session;
  exchange.notify = [&](const json& question) {
    CHECK(question["method"] == "elicitation/create");
    const std::string about = question["params"]["message"];
    answers.emplace_back([&, id = question["id"], about] {
      json response =
          make_result(id, {{"action", "accept"}, {"content", about == "name" ? "Ada" : "blue"}});
      response_to(*server, response, exchange);
    });
  };
  CHECK(response_to(*server, legacy_call(1, "ask"), exchange)["error"]["code"] ==
        kMissingCapability);
  response_to(*server,
              make_request(1, "initialize",
                           {{"protocolVersion", "2025-11-25"},
                            {"capabilities", {{"elicitation", json::object()}}}}),
              exchange);
  CHECK(response_to(*server, legacy_call(2, "ask"), exchange)["result"]["content"][0]["text"] ==
        "Ada likes blue");
  for (std::thread& answer : answers) answer.join();
  CHECK(answers.size() == 2);
  const json without = response_to(*server, legacy_call(3, "ask"), {.session = session})["error"];
  CHECK(without["message"].get<std::string>().find("cannot be asked") != std::string::npos);
}

}  // namespace assay::mcp
