// Tests the HTTP transport over real sockets: both protocol eras, the headers that mirror a body,
// refusals, and how the server starts and stops.
#include "server/mcp/http/http_server.h"

#include <chrono>
#include <map>
#include <string>

#include "tests/server/mcp/http/raw_http.h"
#include "tests/server/mcp/http/shared_server.h"

namespace assay::mcp {

using namespace test;

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

TEST_CASE(
    "http: a port in use is exit status 71, and stopping is prompt with idle connections open") {
  const auto second = make_server();
  UniqueFd idle;
  const auto start = std::chrono::steady_clock::now();
  {
    RunningHttp first;
    HttpOptions options;
    options.port = first.port;
    CHECK(serve_http(*second, options, {}) == 71);
    options.host = "256.1.1.1";
    CHECK(serve_http(*second, options, {}) == 71);
    idle = connect_to(first.port);  // the server would close it after 30 s
    REQUIRE(send_text(idle.get(), raw_post("", kPing)));
    CHECK(receive(idle.get(), "\"result\":{}}").rfind("HTTP/1.1 200", 0) == 0);
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
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
