// The HTTP transport over real sockets: the rules of the protocol, limits and refusals.
#include "server/mcp/http/http_server.h"

#include <cstdint>
#include <map>

#include "base/handle.h"
#include "server/mcp/client/http_client.h"
#include "server/mcp/http/http_metrics.h"
#include "server/mcp/http/tokens.h"
#include "server/mcp/protocol/sse.h"
#include "tests/server/mcp/fixture.h"
#include "tests/server/mcp/http/raw_http.h"

namespace assay::mcp {
namespace {

using namespace test;

RunningHttp& shared_server() {
  static RunningHttp server;
  return server;
}

struct Answer {
  int status = 0;
  json body;
  std::multimap<std::string, std::string> headers;
};

Answer post(const RunningHttp& server, const json& message,
            std::map<std::string, std::string> headers = {}) {
  headers.emplace("Accept", "application/json, text/event-stream");
  auto response = http_post(server.url(), headers, dump(message), "application/json", kTimeoutMs);
  if (!response) FAIL(response.error().message);
  return {response->status,
          response->body.empty() ? json() : json::parse(response->body, nullptr, false),
          response->headers};
}

std::map<std::string, std::string> mirror(const std::string& method, const std::string& name = "") {
  std::map<std::string, std::string> headers = {{kHeaderVersion, std::string(kStatelessVersion)},
                                                {kHeaderMethod, method}};
  if (!name.empty()) headers[kHeaderName] = name;
  return headers;
}

}  // namespace

TEST_CASE("http: the legacy era works without a session, and offers one") {
  auto& server = shared_server();
  const Answer opened =
      post(server, make_request(1, "initialize", {{"protocolVersion", "2025-06-18"}}));
  CHECK(opened.status == 200);
  CHECK(opened.body["result"]["protocolVersion"] == "2025-06-18");
  CHECK(opened.headers.count("mcp-session-id") == 1);
  CHECK(post(server, make_notification("notifications/initialized", json::object())).status == 202);
  const Answer call =
      post(server, legacy_call(2, "add", {{"a", 1}, {"b", 2}}), {{kHeaderVersion, "2025-06-18"}});
  CHECK(call.status == 200);
  CHECK(call.body["result"]["structuredContent"]["sum"] == 3);
  CHECK(post(server, make_request(3, "resources/list", json::object())).body["error"]["code"] ==
        kMethodNotFound);
  CHECK(post(server, make_request(3, "ping", json::object()), {{kHeaderVersion, "1999-01-01"}})
            .status == 400);
}

TEST_CASE("http: the stateless era") {
  auto& server = shared_server();
  const Answer discover = post(server, make_request(1, "server/discover", {{"_meta", meta()}}),
                               mirror("server/discover"));
  CHECK(discover.status == 200);
  CHECK(discover.headers.count("mcp-session-id") == 0);
  CHECK(discover.body["result"]["supportedVersions"][0] == "2026-07-28");
  const Answer call =
      post(server, stateless_call(2, "add", {{"a", 1}, {"b", 2}}), mirror("tools/call", "add"));
  CHECK(call.status == 200);
  CHECK(call.body["result"]["resultType"] == "complete");
  const Answer unknown =
      post(server, make_request(3, "no/such", {{"_meta", meta()}}), mirror("no/such"));
  CHECK(unknown.status == 404);
  CHECK(unknown.body["error"]["code"] == kMethodNotFound);
  auto future = mirror("tools/list");
  future[kHeaderVersion] = "2031-01-01";
  const Answer unsupported =
      post(server, make_request(4, "tools/list", {{"_meta", meta({{kMetaVersion, "2031-01-01"}})}}),
           future);
  CHECK(unsupported.status == 400);
  CHECK(unsupported.body["error"]["code"] == kUnsupportedVersion);
  const Answer no_meta =
      post(server, make_request(5, "tools/list", json::object()), mirror("tools/list"));
  CHECK(no_meta.status == 400);
  CHECK(no_meta.body["error"]["code"] == kInvalidParams);
}

TEST_CASE("http: headers that differ from the body or are missing") {
  auto& server = shared_server();
  const json call = stateless_call(1, "add", {{"a", 1}, {"b", 2}});
  for (const auto& headers : {std::map<std::string, std::string>{}, mirror("tools/list", "add"),
                              mirror("tools/call"), mirror("tools/call", "wait")}) {
    const Answer answer = post(server, call, headers);
    CHECK(answer.status == 400);
    CHECK(answer.body["error"]["code"] == kHeaderMismatch);
    CHECK(answer.body["id"] == 1);
  }
  auto version = mirror("tools/call", "add");
  version[kHeaderVersion] = "2025-11-25";
  CHECK(post(server, call, version).body["error"]["code"] == kHeaderMismatch);
  CHECK(post(server, call, mirror("tools/call", "=?base64?YWRk?=")).status == 200);
}

TEST_CASE("http: bad messages, paths and methods") {
  auto& server = shared_server();
  auto broken = http_post(server.url(), {}, "{", "application/json", kTimeoutMs);
  REQUIRE(broken);
  CHECK(broken->status == 400);
  CHECK(json::parse(broken->body)["error"]["code"] == kParseError);
  CHECK(http_post(server.url(), {}, "[]", "application/json", kTimeoutMs)->status == 400);
  CHECK(http_post(server.url(), {}, kPing, "text/plain", kTimeoutMs)->status == 415);
  CHECK(http_post(server.url(), {}, kPing, "multipart/form-data; boundary=x", kTimeoutMs)->status ==
        415);
  CHECK(
      http_post(server.url(), {{"Content-Encoding", "gzip"}}, kPing, "application/json", kTimeoutMs)
          ->status == 415);
  CHECK(http_post("http://127.0.0.1:" + std::to_string(server.port) + "/other", {}, kPing,
                  "application/json", kTimeoutMs)
            ->status == 404);
  for (const char* method : {"GET", "DELETE", "PUT", "OPTIONS"}) {
    INFO(method);
    const std::string text =
        talk(server.port, std::string(method) +
                              " /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    CHECK(text.rfind("HTTP/1.1 405", 0) == 0);
    CHECK(text.find("Allow: POST") != std::string::npos);
  }
  CHECK(talk(server.port, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .find("{\"status\":\"ok\"}") != std::string::npos);
}

TEST_CASE("http: Host and Origin keep web pages out") {
  auto& server = shared_server();
  CHECK(talk(server.port, raw_post("Connection: close\r\n", kPing)).rfind("HTTP/1.1 200", 0) == 0);
  CHECK(talk(server.port, raw_post("Connection: close\r\n", kPing, "evil.example"))
            .rfind("HTTP/1.1 403", 0) == 0);
  CHECK(talk(server.port, raw_post("Connection: close\r\nOrigin: https://evil.example\r\n", kPing))
            .rfind("HTTP/1.1 403", 0) == 0);
  CHECK(talk(server.port, raw_post("Connection: close\r\nOrigin: http://localhost:6274\r\n", kPing))
            .rfind("HTTP/1.1 200", 0) == 0);
  CHECK(talk(server.port, "GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", "\r\n\r\n")
            .rfind("HTTP/1.1 403", 0) == 0);
}

TEST_CASE("http: a server with tokens wants one") {
  HttpOptions options;
  options.tokens = std::make_shared<const Tokens>(
      *Tokens::parse("alice practice sha256:" + sha256_hex("s3cret"), {"practice"}));
  RunningHttp server(options);
  CHECK(post(server, json::parse(kPing)).status == 401);
  CHECK(post(server, json::parse(kPing), {{"Authorization", "Bearer wrong!"}}).status == 401);
  CHECK(post(server, json::parse(kPing), {{"Authorization", "Bearer s3cret"}}).status == 200);
}

TEST_CASE("http: metrics need a token if the server has tokens") {
  HttpOptions options;
  options.tokens = std::make_shared<const Tokens>(
      *Tokens::parse("alice practice sha256:" + sha256_hex("s3cret"), {"practice"}));
  options.more_metrics = [](MetricsText& text) { text.gauge("of_the_application", "More.", 7); };
  RunningHttp server(options);
  const std::string get = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
  CHECK(talk(server.port, get + "\r\n").rfind("HTTP/1.1 401", 0) == 0);
  CHECK(post(server, legacy_call(1, "add", {{"a", 1}, {"b", 2}}),
             {{"Authorization", "Bearer s3cret"}})
            .status == 200);
  CHECK(post(server, legacy_call(1, "refuse"), {{"Authorization", "Bearer s3cret"}}).status == 200);
  CHECK(talk(server.port, "nonsense\r\n\r\n").rfind("HTTP/1.1 400", 0) == 0);
  const std::string text = talk(server.port, get + "Authorization: Bearer s3cret\r\n\r\n");
  CHECK(text.rfind("HTTP/1.1 200", 0) == 0);
  for (const char* line : {"Content-Type: text/plain; version=0.0.4",
                           R"(assay_messages_total{method="tools/call",outcome="ok"} 1)",
                           R"(assay_messages_total{method="tools/call",outcome="failed"} 1)",
                           R"(assay_http_responses_total{code="200"} 2)",
                           R"(assay_http_responses_total{code="400"} 1)",
                           R"(assay_http_responses_total{code="401"} 1)", "of_the_application 7",
                           "assay_calls_running 0", "assay_message_seconds_count 2"}) {
    INFO(line);
    CHECK(text.find(line) != std::string::npos);
  }
}

TEST_CASE("http: oversize bodies are refused, declared or chunked") {
  HttpOptions options;
  options.max_body_bytes = 10'000;
  RunningHttp server(options);
  const std::string fits = R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"pad":")" +
                           std::string(9'000, 'x') + "\"}}";
  CHECK(http_post(server.url(), {}, fits, "application/json", kTimeoutMs)->status == 200);
  CHECK(talk(server.port, raw_post("", std::string(10'001, ' '))).rfind("HTTP/1.1 413", 0) == 0);
  // The server must not wait for bytes that are only announced.
  CHECK(talk(server.port,
             "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
             "application/json\r\nContent-Length: 99999999999\r\n\r\n")
            .rfind("HTTP/1.1 413", 0) == 0);

  const std::string head =
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
      "application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string chunk = "1000\r\n" + std::string(4096, ' ') + "\r\n";
  CHECK(talk(server.port, head + chunk + chunk + chunk + "0\r\n\r\n").rfind("HTTP/1.1 413", 0) ==
        0);
  const UniqueFd endless = connect_to(server.port);
  REQUIRE(send_text(endless.get(), head));
  std::size_t sent = 0;
  while (sent < (64U << 20) && send_text(endless.get(), chunk)) sent += chunk.size();
  CHECK(sent < (64U << 20));  // the server has stopped reading
  CHECK(talk(server.port,
             "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: "
             "application/json\r\nTransfer-Encoding: chunked\r\n\r\n28\r\n" +
                 kPing + "\r\n0\r\n\r\n")
            .find("\"result\":{}") != std::string::npos);
}

TEST_CASE("http: a body with an ambiguous end is refused and ends the connection") {
  auto& server = shared_server();
  const std::string start =
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  for (const char* headers :
       {"Content-Length: 40\r\nContent-Length: 3\r\n",
        "Content-Length: 40\r\nTransfer-Encoding: chunked\r\n", "Content-Length: -1\r\n",
        "Content-Length: 4x\r\n", "Transfer-Encoding: gzip, chunked\r\n", ""}) {
    INFO(headers);
    const std::string text =
        talk(server.port,
             start + headers + "\r\n" + kPing + "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    CHECK(text.rfind("HTTP/1.1 4", 0) == 0);
    CHECK(text.find("HTTP/1.1", 8) ==
          std::string::npos);  // the following bytes were not read as a request
  }
}

TEST_CASE("http: too many headers, or too much in them") {
  auto& server = shared_server();
  std::string few, many, large;
  for (int i = 0; i < 50; ++i) few += "X-" + std::to_string(i) + ": 1\r\n";
  for (int i = 0; i < 70; ++i) many += "X-" + std::to_string(i) + ": 1\r\n";
  for (int i = 0; i < 10; ++i)
    large += "X-" + std::to_string(i) + ": " + std::string(4'000, 'x') + "\r\n";
  CHECK(
      talk(server.port, raw_post("Connection: close\r\n" + few, kPing)).rfind("HTTP/1.1 200", 0) ==
      0);
  CHECK(talk(server.port, raw_post(many, kPing)).rfind("HTTP/1.1 431", 0) == 0);
  CHECK(talk(server.port, raw_post(large, kPing)).rfind("HTTP/1.1 431", 0) == 0);
}

TEST_CASE("http: one connection serves many requests, the refused ones too") {
  auto& server = shared_server();
  const UniqueFd fd = connect_to(server.port);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(send_text(fd.get(), raw_post("", kPing)));
    CHECK(receive(fd.get(), "\"result\":{}}").rfind("HTTP/1.1 200", 0) == 0);
    REQUIRE(send_text(fd.get(), raw_post("", "{}")));
    CHECK(receive(fd.get(), "\"2.0\"}").rfind("HTTP/1.1 400", 0) == 0);
  }
}

TEST_CASE("http: 100 Continue comes before a body that waits for it, and not before a refusal") {
  auto& server = shared_server();
  const auto head = [](const std::string& type) {
    return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: " + type +
           "\r\nExpect: 100-continue\r\nContent-Length: " + std::to_string(kPing.size()) +
           "\r\n\r\n";
  };
  const UniqueFd fd = connect_to(server.port);
  REQUIRE(send_text(fd.get(), head("application/json")));
  CHECK(receive(fd.get(), "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  REQUIRE(send_text(fd.get(), kPing));
  CHECK(receive(fd.get()).rfind("HTTP/1.1 200 OK\r\n", 0) == 0);
  CHECK(talk(server.port, head("text/plain")).rfind("HTTP/1.1 415", 0) == 0);
  CHECK(talk(server.port, head("application/json") + kPing).rfind("HTTP/1.1 200", 0) == 0);
}

TEST_CASE("http: a client of HTTP/1.0 gets its answer, and its stream without chunks") {
  auto& server = shared_server();
  const auto old = [](std::string text) { return text.replace(text.find("1.1"), 3, "1.0"); };
  const std::string text = talk(server.port, old(raw_post("", kPing)));
  CHECK(text.rfind("HTTP/1.1 200", 0) == 0);
  CHECK(text.find("Connection: close") != std::string::npos);
  const std::string events =
      talk(server.port,
           old(raw_post(stateless_headers("wait"),
                        dump(stateless_call(1, "wait", {{"ms", 20}}, {{"progressToken", 1}})))));
  CHECK(events.find("Transfer-Encoding") == std::string::npos);
  CHECK(events.find("\r\n\r\ndata: {") != std::string::npos);
}

TEST_CASE("http: HEAD gets the head of an answer only") {
  auto& server = shared_server();
  const std::string text =
      talk(server.port, "HEAD /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  CHECK(text.rfind("HTTP/1.1 405", 0) == 0);
  CHECK(text.substr(text.size() - 4) == "\r\n\r\n");
}

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
  // An error keeps its status, because the stream begins only when the tool is reached.
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

TEST_CASE("http: open streams cannot starve short requests") {
  HttpOptions options;
  options.max_streams = 6;
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

TEST_CASE("http: answers are not compressed") {
  auto& server = shared_server();
  const std::string text =
      talk(server.port, raw_post("Connection: close\r\nAccept-Encoding: br, gzip\r\n",
                                 R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"));
  CHECK(text.find("Content-Encoding") == std::string::npos);
  CHECK(text.find("\"tools\"") != std::string::npos);
}

TEST_CASE(
    "http: a port in use is exit status 71, and stopping is prompt with idle connections open") {
  const auto second = make_server();
  UniqueFd idle;
  const auto start = std::chrono::steady_clock::now();
  {
    RunningHttp first;
    HttpOptions options;
    options.port = first.port;
    CHECK(serve_http(*second, options, nullptr) == 71);
    options.host = "256.1.1.1";
    CHECK(serve_http(*second, options, nullptr) == 71);
    idle = connect_to(first.port);
    REQUIRE(send_text(idle.get(), raw_post("", kPing)));
    CHECK(receive(idle.get(), "\"result\":{}}").rfind("HTTP/1.1 200", 0) == 0);
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("http: stopping cancels running calls") {
  const int cancelled = traces().cancelled;
  UniqueFd fd;
  {
    RunningHttp server;
    fd = connect_to(server.port);
    REQUIRE(send_text(fd.get(), raw_post("", dump(legacy_call(1, "wait")))));
    REQUIRE(traces().waiting.becomes(1));
  }
  CHECK(traces().cancelled == cancelled + 1);
}

}  // namespace assay::mcp
