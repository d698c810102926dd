// Tests the sessions of session-based clients over real sockets. The tests open, name and end
// sessions, and resume a broken stream after the last event that the client received.
#include <map>

#include "server/mcp/client/client.h"
#include "server/mcp/client/http_client.h"
#include "tests/server/mcp/fixture.h"

namespace assay::mcp {
namespace {

using namespace test;

HttpResponse exchange(const RunningHttp& server, const std::string& method,
                      std::map<std::string, std::string> headers, const json& message = nullptr,
                      std::function<bool(std::string_view)> arrived = {}) {
  HttpExchange what;
  what.method = method;
  headers.emplace("Accept", "application/json, text/event-stream");
  what.headers = std::move(headers);
  what.timeout_ms = kTimeoutMs;
  what.arrived = std::move(arrived);
  if (!message.is_null()) {
    what.body = dump(message);
    what.content_type = "application/json";
  }
  auto response = http_exchange(server.url(), what);
  if (!response) FAIL(response.error().message);
  return *response;
}

std::string open_session(const RunningHttp& server, const char* version = "2025-11-25") {
  const auto opened =
      exchange(server, "POST", {}, make_request(0, "initialize", {{"protocolVersion", version}}));
  const auto id = opened.headers.find("mcp-session-id");
  REQUIRE(id != opened.headers.end());
  return id->second;
}

/// Returns the id in the last "id: ..." line of an event stream.
std::string last_id(const std::string& events) {
  const std::size_t at = events.rfind("id: ");
  REQUIRE(at != std::string::npos);
  return events.substr(at + 4, events.find('\n', at) - at - 4);
}

json call_with_progress(int id, int ms) {
  return make_request(
      id, "tools/call",
      {{"name", "wait"}, {"arguments", {{"ms", ms}}}, {"_meta", {{"progressToken", id}}}});
}

}  // namespace

TEST_CASE("http session: DELETE ends it, and then it is unknown") {
  RunningHttp server;
  const std::string id = open_session(server);
  CHECK(exchange(server, "POST", {{kHeaderSession, id}}, make_request(1, "ping", json::object()))
            .status == 200);
  CHECK(exchange(server, "DELETE", {{kHeaderSession, "session_unknown"}}).status == 404);
  CHECK(exchange(server, "DELETE", {{kHeaderSession, id}}).status == 204);
  CHECK(exchange(server, "DELETE", {{kHeaderSession, id}}).status == 404);
  CHECK(exchange(server, "POST", {{kHeaderSession, id}}, make_request(1, "ping", json::object()))
            .status == 404);
  CHECK(exchange(server, "GET", {{kHeaderSession, id}}).status == 404);
  CHECK(exchange(server, "POST", {}, make_request(1, "ping", json::object())).status ==
        200);  // a request needs no session
  CHECK(exchange(server, "POST", {}, make_request(1, "initialize", json::object()))
            .headers.count("mcp-session-id") == 0);  // initialize failed
  CHECK(exchange(server, "POST", {}, make_notification("initialize", json::object())).status ==
        202);
}

TEST_CASE("http session: ending it cancels its calls") {
  RunningHttp server;
  const std::string id = open_session(server);
  const int cancelled = traces().cancelled;
  std::thread call([&] {
    exchange(server, "POST", {{kHeaderSession, id}}, call_with_progress(1, 60'000));
  });
  REQUIRE(traces().waiting.becomes(1));
  CHECK(exchange(server, "DELETE", {{kHeaderSession, id}}).status == 204);
  call.join();
  CHECK(traces().cancelled == cancelled + 1);
}

TEST_CASE("http session: after a break, Last-Event-ID gives the rest and no event twice") {
  RunningHttp server;
  const std::string id = open_session(server);
  std::string seen;
  exchange(server, "POST", {{kHeaderSession, id}}, call_with_progress(7, 700),
           [&](std::string_view part) {
             seen += part;
             return seen.find("notifications/progress") ==
                    std::string::npos;  // hang up after the first progress
           });
  CHECK(seen.rfind("id: ", 0) == 0);
  CHECK(seen.find("retry: ") != std::string::npos);
  const std::string place = last_id(seen);
  const auto rest = exchange(server, "GET", {{kHeaderSession, id}, {"Last-Event-ID", place}});
  CHECK(rest.status == 200);
  CHECK(rest.body.find("\"waited\"") != std::string::npos);  // the call outlived its connection
  CHECK(rest.body.find("id: " + place + "\n") == std::string::npos);
  const auto again = exchange(server, "GET", {{kHeaderSession, id}, {"Last-Event-ID", place}});
  CHECK(again.body == rest.body);
  const auto nothing =
      exchange(server, "GET", {{kHeaderSession, id}, {"Last-Event-ID", last_id(rest.body)}});
  CHECK(nothing.body.empty());
  CHECK(exchange(server, "GET", {{kHeaderSession, id}, {"Last-Event-ID", "99-99"}}).status == 400);
  CHECK(exchange(server, "GET", {{kHeaderSession, id}, {"Accept", "application/json"}}).status ==
        406);
  const std::string other = open_session(server);
  CHECK(exchange(server, "GET", {{kHeaderSession, other}, {"Last-Event-ID", place}}).status == 400);
}

TEST_CASE("http session: older clients get no event without content, which they would misread") {
  RunningHttp server;
  const std::string id = open_session(server, "2025-06-18");
  const auto answer = exchange(server, "POST", {{kHeaderSession, id}}, call_with_progress(1, 20));
  CHECK(answer.body.find("retry:") == std::string::npos);
  CHECK(answer.body.find("\"waited\"") != std::string::npos);
}

TEST_CASE("http session: the newest GET stream wins, and both end with the session") {
  RunningHttp server;
  const std::string id = open_session(server);
  server.server().publish({Change::Kind::tools});
  Counter heard;
  std::thread first([&] {
    const auto hear = [&](std::string_view) {
      heard.add(1);
      return true;
    };
    CHECK(exchange(server, "GET", {{kHeaderSession, id}}, nullptr, hear).status == 200);
  });
  REQUIRE(heard.becomes(1));  // an event has arrived, so the first stream is open
  std::thread second([&] { CHECK(exchange(server, "GET", {{kHeaderSession, id}}).status == 200); });
  first.join();
  CHECK(exchange(server, "DELETE", {{kHeaderSession, id}}).status == 204);
  second.join();
}

}  // namespace assay::mcp
