// Tests event streams over real sockets: progress, cancellation when the client disconnects, and
// the limit of open streams.
#include <map>
#include <string>
#include <vector>

#include "server/mcp/protocol/sse.h"
#include "tests/server/mcp/http/raw_http.h"
#include "tests/server/mcp/http/shared_server.h"

namespace assay::mcp {

using namespace test;

TEST_CASE("http: progress makes a stream, without a token the answer is JSON") {
  auto& server = shared_server();
  auto headers = mirror("tools/call", "wait");
  headers["Accept"] = "application/json, text/event-stream";
  auto response =
      http_post(server.url(), headers,
                dump(stateless_call(1, "wait", {{"ms", 250}}, {{"progressToken", "t"}})),
                "application/json", kTimeoutMs);
  REQUIRE(response);
  CHECK(response->headers.find("content-type")->second == "text/event-stream");
  CHECK(response->headers.find("x-accel-buffering")->second == "no");
  const auto events = sse_data(response->body);
  REQUIRE(events.size() >= 2);
  CHECK(json::parse(events.front())["method"] == "notifications/progress");
  CHECK(json::parse(events.back())["result"]["content"][0]["text"] == "waited");
  headers["Accept"] = "application/json";
  response = http_post(server.url(), headers,
                       dump(stateless_call(1, "wait", {{"ms", 20}}, {{"progressToken", "t"}})),
                       "application/json", kTimeoutMs);
  CHECK(response->headers.find("content-type")->second.rfind("application/json", 0) == 0);
  // An event stream begins only when a tool is called. The tool `nope` does not exist, so the error
  // is a plain response and not an event of a stream.
  headers["Accept"] = "text/event-stream";
  headers[kHeaderName] = "nope";
  response = http_post(server.url(), headers,
                       dump(stateless_call(1, "nope", {}, {{"progressToken", "t"}})),
                       "application/json", kTimeoutMs);
  CHECK(json::parse(response->body)["error"]["code"] == kInvalidParams);
}

TEST_CASE("http: hanging up cancels a stateless call, with and without a stream") {
  auto& server = shared_server();
  for (const bool stream : {false, true}) {
    INFO(stream);
    const int cancelled = traces().cancelled;
    const std::string body = dump(stateless_call(
        1, "wait", json::object(), stream ? json{{"progressToken", 1}} : json::object()));
    {
      const UniqueFd fd = connect_to(server.port);
      REQUIRE(send_text(
          fd.get(),
          raw_post("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: "
                   "wait\r\nAccept: application/json, text/event-stream\r\n",
                   body)));
      REQUIRE(traces().waiting.becomes(1));
    }
    CHECK(traces().cancelled.becomes(cancelled + 1));
    CHECK(traces().waiting.becomes(0));
  }
}

TEST_CASE("http: a legacy call outlives its connection, and its session can cancel it") {
  auto& server = shared_server();
  const auto session =
      post(server, make_request(1, "initialize", {{"protocolVersion", "2025-11-25"}}))
          .headers.find("mcp-session-id")
          ->second;
  const auto other =
      post(server, make_request(1, "initialize", {{"protocolVersion", "2025-11-25"}}))
          .headers.find("mcp-session-id")
          ->second;
  const int cancelled = traces().cancelled;
  {
    const UniqueFd fd = connect_to(server.port);
    REQUIRE(send_text(
        fd.get(), raw_post("Mcp-Session-Id: " + session + "\r\n", dump(legacy_call(7, "wait")))));
    REQUIRE(traces().waiting.becomes(1));
  }
  const json cancel = make_notification("notifications/cancelled", {{"requestId", 7}});
  CHECK(post(server, cancel, {{kHeaderSession, other}}).status == 202);
  CHECK(post(server, cancel).status == 202);
  CHECK(traces().waiting == 1);
  CHECK(post(server, cancel, {{kHeaderSession, session}}).status == 202);
  CHECK(traces().cancelled.becomes(cancelled + 1));
}

TEST_CASE("http: open streams of calls cannot starve short requests") {
  HttpOptions options;
  options.max_calls = 6;
  RunningHttp server(options);
  const std::string head =
      "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: wait\r\nAccept: "
      "text/event-stream\r\n";
  std::vector<UniqueFd> streams;
  for (int i = 0; i < 6; ++i) {
    streams.push_back(connect_to(server.port));
    REQUIRE(send_text(
        streams.back().get(),
        raw_post(head, dump(stateless_call(i, "wait", json::object(), {{"progressToken", i}})))));
  }
  REQUIRE(traces().waiting.becomes(6));
  CHECK(
      talk(server.port,
           raw_post(head, dump(stateless_call(9, "wait", json::object(), {{"progressToken", 9}}))),
           "\"2.0\"}")
          .rfind("HTTP/1.1 503", 0) == 0);
  CHECK(post(server, json::parse(kPing)).status == 200);
  streams.clear();
  CHECK(traces().waiting.becomes(0));
}

}  // namespace assay::mcp
