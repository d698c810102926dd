#include "server/mcp/core/dispatch.h"

#include "tests/server/mcp/fixture.h"

namespace assay::mcp {
namespace {

using namespace test;

class DispatcherClient {
 public:
  Outcome handle(const json& message, TransportContext transport = {}) {
    auto parsed = parse_message(dump(message));
    REQUIRE(parsed);
    return server_->dispatcher().handle(*parsed, transport);
  }
  json result(const json& message) {
    const Outcome outcome = handle(message);
    REQUIRE(outcome.response);
    INFO(outcome.response->dump());
    REQUIRE(outcome.response->contains("result"));
    return (*outcome.response)["result"];
  }
  json error(const json& message, int http_status = 200) {
    const Outcome outcome = handle(message);
    REQUIRE(outcome.response);
    INFO(outcome.response->dump());
    REQUIRE(outcome.response->contains("error"));
    CHECK(outcome.http_status == http_status);
    return (*outcome.response)["error"];
  }
  Dispatcher& dispatcher() { return server_->dispatcher(); }

 private:
  std::unique_ptr<Server> server_ = make_server();
};

json request(const std::string& method, json params = json::object()) {
  return make_request(1, method, std::move(params));
}
std::string text_of(const json& result) { return result["content"][0]["text"]; }

}  // namespace

TEST_CASE("dispatch: initialize echoes a known legacy revision and offers the newest to others") {
  DispatcherClient server;
  for (const std::string_view version : kLegacyVersions) {
    CHECK(server.result(request("initialize",
                                {{"protocolVersion", version},
                                 {"capabilities", json::object()}}))["protocolVersion"] == version);
  }
  CHECK(server.result(request(
            "initialize", {{"protocolVersion", "2019-01-01"}}))["protocolVersion"] == "2025-11-25");
  CHECK(server.result(request(
            "initialize", {{"protocolVersion", "2026-07-28"}}))["protocolVersion"] == "2025-11-25");
  CHECK(server.error(request("initialize"))["code"] == kInvalidParams);
}

TEST_CASE("dispatch: the legacy era") {
  DispatcherClient server;
  CHECK(server.result(request("ping")) == json::object());
  const json list = server.result(request("tools/list"));
  CHECK(list["tools"].size() == 6);
  CHECK_FALSE(list.contains("resultType"));
  const json call = server.result(legacy_call(1, "add", {{"a", 1}, {"b", 2}}));
  CHECK(text_of(call) == "sum 3");
  CHECK(call["structuredContent"]["sum"] == 3);
  CHECK_FALSE(call.contains("resultType"));
  CHECK_FALSE(call.contains("isError"));
  CHECK(server.error(request("resources/list"))["code"] == kMethodNotFound);
  CHECK_FALSE(
      server.handle({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}}).response);
  CHECK_FALSE(server.handle({{"jsonrpc", "2.0"}, {"method", "notifications/unheard_of"}}).response);
  CHECK_FALSE(server.handle({{"jsonrpc", "2.0"}, {"id", 5}, {"result", json::object()}}).response);
}

TEST_CASE("dispatch: the stateless era needs no handshake") {
  DispatcherClient server;
  const json discover = server.result(request("server/discover", {{"_meta", meta()}}));
  CHECK(discover["supportedVersions"][0] == "2026-07-28");
  CHECK(discover["supportedVersions"].size() == 5);
  CHECK(discover["capabilities"].contains("tools"));
  CHECK(discover["resultType"] == "complete");
  CHECK(discover["ttlMs"].get<int>() > 0);
  CHECK(discover["cacheScope"] == "public");
  CHECK(discover["_meta"][kMetaServerInfo]["name"] == "wire");
  const json list = server.result(request("tools/list", {{"_meta", meta()}}));
  CHECK(list["resultType"] == "complete");
  CHECK(list.contains("ttlMs"));
  CHECK(list["cacheScope"] == "public");
  CHECK(list["tools"][0]["outputSchema"]["type"] == "object");
  CHECK_FALSE(list["tools"][4].contains("outputSchema"));
  const json call = server.result(stateless_call(1, "add", {{"a", 1}, {"b", 2}}));
  CHECK(call["resultType"] == "complete");
  CHECK(call["_meta"][kMetaServerInfo]["version"] == "1.2.3");
}

TEST_CASE("dispatch: errors of the stateless era") {
  DispatcherClient server;
  CHECK(server.error(request("server/discover"), 400)["code"] == kInvalidParams);
  CHECK(server.error(request("tools/list", {{"_meta", {{kMetaVersion, kStatelessVersion}}}}),
                     400)["code"] == kInvalidParams);
  CHECK(
      server.error(request("tools/list", {{"_meta", {{kMetaClientCapabilities, json::object()}}}}),
                   400)["code"] == kInvalidParams);
  CHECK(server.error(
            request("tools/list",
                    {{"_meta", {{kMetaVersion, 5}, {kMetaClientCapabilities, json::object()}}}}),
            400)["code"] == kInvalidParams);
  const json unsupported =
      server.error(request("tools/list", {{"_meta", meta({{kMetaVersion, "1900-01-01"}})}}), 400);
  CHECK(unsupported["code"] == kUnsupportedVersion);
  CHECK(unsupported["data"]["requested"] == "1900-01-01");
  CHECK(unsupported["data"]["supported"][0] == "2026-07-28");
  for (const char* gone :
       {"initialize", "ping", "logging/setLevel", "resources/subscribe", "no/such"}) {
    CHECK(server.error(request(gone, {{"protocolVersion", "2025-11-25"}, {"_meta", meta()}}),
                       404)["code"] == kMethodNotFound);
  }
}

TEST_CASE(
    "dispatch: unknown tools and malformed calls are protocol errors that name the valid tools") {
  DispatcherClient server;
  const json unknown = server.error(legacy_call(1, "addd"));
  CHECK(unknown["code"] == kInvalidParams);
  CHECK(unknown["message"] == "Unknown tool: 'addd'; valid: add, refuse, throw, lie, wait, chatty");
  CHECK(server.error(request("tools/call", {{"arguments", json::object()}}))["code"] ==
        kInvalidParams);
  CHECK(server.error(request("tools/call", {{"name", "add"}, {"arguments", "a"}}))["code"] ==
        kInvalidParams);
  CHECK(server.error(request("tools/list", {{"cursor", "x"}}))["code"] == kInvalidParams);
}

TEST_CASE("dispatch: bad arguments are a result with isError") {
  DispatcherClient server;
  const json result = server.result(legacy_call(1, "add", {{"a", -1}, {"mode", "quiet"}}));
  CHECK(result["isError"] == true);
  CHECK(text_of(result) ==
        "Invalid arguments for add:\n- missing required property 'b' (integer)\n- 'a' is -1; it "
        "must be at least 0\n- 'mode' is \"quiet\"; valid values: "
        "plain, loud");
  CHECK_FALSE(result.contains("structuredContent"));
  const json none = server.result(request("tools/call", {{"name", "add"}}));
  CHECK(none["isError"] == true);
  CHECK(server.result(request("tools/call",
                              {{"name", "refuse"}, {"arguments", nullptr}}))["isError"] == true);
}

TEST_CASE("dispatch: 3.0 is an integer") {
  DispatcherClient server;
  CHECK(server.result(legacy_call(1, "add", {{"a", 3.0}, {"b", 1}}))["structuredContent"]["sum"] ==
        4);
  CHECK(server.result(legacy_call(1, "add", {{"a", 3.5}, {"b", 1}}))["isError"] == true);
}

TEST_CASE(
    "dispatch: a failing tool keeps its words, a throwing one its secrets, a lying one its "
    "result") {
  DispatcherClient server;
  const json refused = server.result(stateless_call(1, "refuse"));
  CHECK(refused["isError"] == true);
  CHECK(text_of(refused) == "no such operator; valid: vector_add");
  // The structured part of this tool's answer violates the output schema, so the server leaves it
  // out. Some clients check the structured part even if the call failed.
  CHECK_FALSE(refused.contains("structuredContent"));
  const json thrown = server.result(stateless_call(1, "throw"));
  CHECK(thrown["isError"] == true);
  CHECK(thrown.dump().find("secret") == std::string::npos);
  const json lie = server.error(stateless_call(1, "lie"));
  CHECK(lie["code"] == kInternalError);
  CHECK(lie.dump().find("three") == std::string::npos);
}

TEST_CASE("dispatch: progress rises, is rate-limited, needs a token and ends with the call") {
  DispatcherClient server;
  std::vector<json> seen;
  TransportContext transport;
  transport.notify = [&](const json& notification) { seen.push_back(notification); };
  server.handle(stateless_call(1, "wait", {{"ms", 350}}, {{"progressToken", "tok"}}), transport);
  REQUIRE(seen.size() >= 2);
  CHECK(seen.size() <= 4);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    CHECK(seen[i]["method"] == "notifications/progress");
    CHECK(seen[i]["params"]["progressToken"] == "tok");
    CHECK_FALSE(seen[i]["params"].contains("total"));
    if (i > 0)
      CHECK(seen[i]["params"]["progress"].get<double>() >
            seen[i - 1]["params"]["progress"].get<double>());
  }
  seen.clear();
  server.handle(stateless_call(1, "wait", {{"ms", 150}}), transport);
  CHECK(seen.empty());
}

TEST_CASE("dispatch: notifications/cancelled stops the call with that id in that scope only") {
  DispatcherClient server;
  const auto cancel = [&](const std::string& scope, const json& id) {
    server.handle(make_notification("notifications/cancelled", {{"requestId", id}}),
                  {.scope = scope});
  };
  Outcome outcome;
  std::thread call([&] { outcome = server.handle(legacy_call("x", "wait"), {.scope = "here"}); });
  REQUIRE(traces().waiting.becomes(1));
  cancel("elsewhere", "x");
  cancel("here", "y");
  cancel("", "x");
  CHECK(traces().waiting == 1);
  cancel("here", "x");
  call.join();
  CHECK(outcome.cancelled);
  CHECK(server.dispatcher().in_flight() == 0);
  cancel("here", "x");  // too late, so it is ignored
}

TEST_CASE("dispatch: hanging up cancels in the stateless era and not in the legacy one") {
  DispatcherClient server;
  TransportContext transport;
  std::stop_source gone;
  gone.request_stop();
  transport.hung_up = gone.get_token();
  const Outcome stateless = server.handle(stateless_call(1, "wait"), transport);
  CHECK(text_of((*stateless.response)["result"]) == "cancelled");
  const Outcome legacy = server.handle(legacy_call(1, "wait", {{"ms", 20}}), transport);
  CHECK(text_of((*legacy.response)["result"]) == "waited");
}

TEST_CASE("server: registration refuses tools that could not be used") {
  Server server({"s", "", "1", ""});
  const auto handler = [](const json&, RequestContext&) { return ToolResult{}; };
  const json input = object_schema(json::object());
  const auto refused = [&](Tool tool) {
    const Status status = server.add_tool(std::move(tool));
    return !status && status.error().message.find("tool '") == 0;
  };
  REQUIRE(server.add_tool({"a", "", "", input, nullptr, nullptr, handler}).has_value());
  CHECK(refused({"a", "", "", input, nullptr, nullptr, handler}));
  CHECK(refused({"", "", "", input, nullptr, nullptr, handler}));
  CHECK(refused({"has space", "", "", input, nullptr, nullptr, handler}));
  CHECK(refused({std::string(65, 'n'), "", "", input, nullptr, nullptr, handler}));
  CHECK(refused({"b", "", "", input, nullptr, nullptr, nullptr}));
  CHECK(refused({"b", "", "", json{{"type", "string"}}, nullptr, nullptr, handler}));
  CHECK(refused({"b", "", "", nullptr, nullptr, nullptr, handler}));
  CHECK(refused({"b", "", "", input, json{{"type", "array"}}, nullptr, handler}));
  CHECK(refused({"b", "", "", json{{"type", "object"}, {"dependentRequired", json::object()}},
                 nullptr, nullptr, handler}));
}

}  // namespace assay::mcp
