// Tests the sessions of session-based clients: the questions to the client, the event log, and the
// table of HTTP sessions.
#include "server/mcp/core/session.h"

#include "server/mcp/http/event_stream.h"
#include "server/mcp/http/http_server.h"
#include "server/mcp/http/http_session.h"
#include "tests/server/mcp/fixture.h"

namespace assay::mcp {

using namespace test;
using std::chrono::milliseconds;

TEST_CASE("questions: the answer comes from another thread, by id") {
  ServerRequests questions;
  std::vector<json> sent;
  std::thread client;
  const auto send = [&](const json& message) {
    sent.push_back(message);
    client = std::thread([&, id = message["id"]] {
      CHECK_FALSE(questions.deliver("server-999", {{"result", 1}}));
      CHECK_FALSE(questions.deliver(7, {{"result", 1}}));
      CHECK(questions.deliver(id, {{"result", {{"roots", json::array()}}}}));
      CHECK_FALSE(questions.deliver(id, {{"result", 2}}));  // no request waits for a second answer
    });
  };
  const auto answer = questions.ask("roots/list", json::object(), send, {}, milliseconds(60'000));
  client.join();
  REQUIRE(answer);
  CHECK(*answer == json{{"roots", json::array()}});
  CHECK(sent[0]["method"] == "roots/list");
}

TEST_CASE("questions: an error, silence and a cancelled call have different errors") {
  ServerRequests questions;
  const auto refuse = [&](const json& message) {
    questions.deliver(message["id"], {{"error", {{"code", -1}, {"message", "user rejected"}}}});
  };
  const auto refused =
      questions.ask("elicitation/create", json::object(), refuse, {}, milliseconds(60'000));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "the client refused elicitation/create: user rejected");
  const auto silent = [](const json&) {};
  CHECK(questions.ask("roots/list", json::object(), silent, {}, milliseconds(60)).error().code ==
        ErrorCode::unavailable);
  std::stop_source stop;
  const auto stopping = [&](const json&) { stop.request_stop(); };
  CHECK(
      questions.ask("roots/list", json::object(), stopping, stop.get_token(), milliseconds(60'000))
          .error()
          .code == ErrorCode::cancelled);
  CHECK_FALSE(questions.deliver("server-2", {{"result", 1}}));  // too late
}

TEST_CASE(
    "event log: each stream has its own events, in order, after the place that the client has") {
  EventLog log(100, 1 << 20);
  const auto one = log.open();
  const auto two = log.open();
  const auto first = log.append(one.stream, "a");
  log.append(two.stream, "x");
  log.append(one.stream, "b");
  const auto all = log.after(one);
  REQUIRE(all.events.size() == 2);
  CHECK(all.events[1].data == "b");
  CHECK_FALSE(all.ended);
  log.finish(one.stream);
  const auto rest = log.after(*log.find(event_id(first)));
  REQUIRE(rest.events.size() == 1);
  CHECK(rest.ended);
  CHECK(log.after(all.events[1].place).ended);
  for (const char* bad : {"", "-", "1", "1-", "-1", "9-1", "1-99", "1-2-3", "a-1",
                          "99999999999999999999-1", "+1-1"}) {
    INFO(bad);
    CHECK_FALSE(log.find(bad));
  }
}

TEST_CASE("event log: it is bounded in number and bytes, and a wait ends with an event or a stop") {
  EventLog log(3, 100);
  const auto stream = log.open();
  for (int i = 0; i < 10; ++i) log.append(stream.stream, std::to_string(i));
  auto kept = log.after(stream).events;
  REQUIRE(kept.size() == 3);
  CHECK(kept[0].data == "7");
  log.append(stream.stream, std::string(99, 'x'));
  kept = log.after(stream).events;
  CHECK(kept.size() == 2);
  log.append(stream.stream,
             std::string(1000, 'y'));  // larger than the log, so only this event is kept
  CHECK(log.after(stream).events.size() == 1);
  const auto place = log.after(stream).events.back().place;
  std::thread writer([&] { log.append(stream.stream, "late"); });
  CHECK(log.wait_after(place, {}).events.at(0).data == "late");
  writer.join();
  std::stop_source stop;
  std::thread stopper([&] { stop.request_stop(); });
  CHECK(log.wait_after(log.after(stream).events.back().place, stop.get_token()).events.empty());
  stopper.join();
  log.close();
  CHECK(log.wait_after(EventLog::Place{}, {}).ended);
}

TEST_CASE("http sessions: only their owner finds them, and only until their end") {
  auto server = make_server();
  HttpSessions sessions(server->dispatcher(), {});
  const auto mine = sessions.create("alice");
  REQUIRE(mine);
  CHECK(sessions.find(mine->client.id(), "alice") == mine);
  CHECK_FALSE(sessions.find(mine->client.id(), "bob"));
  CHECK_FALSE(sessions.end(mine->client.id(), "bob"));
  CHECK(sessions.end(mine->client.id(), "alice"));
  CHECK_FALSE(sessions.find(mine->client.id(), "alice"));
  CHECK(mine->log.after({}).ended);  // the session's streams have ended
}

TEST_CASE(
    "http sessions: idle ones expire; the one idle longest makes room, one in use never does") {
  ManualClock clock;
  Server server({"sessions", "", "1", ""}, {}, {.clock = &clock});
  SessionLimits limits;
  limits.max_sessions = 2;
  HttpSessions sessions(server.dispatcher(), limits);
  const auto first = sessions.create("");
  const auto second = sessions.create("");
  const HttpSession::Use use(first);
  clock.advance_ms(2);
  REQUIRE(sessions.create(""));
  CHECK(sessions.find(first->client.id(), ""));
  CHECK_FALSE(sessions.find(second->client.id(), ""));
  CHECK(sessions.size() == 2);
  limits.idle_ms = 0;
  HttpSessions brief(server.dispatcher(), limits);
  const auto gone = brief.create("");
  CHECK_FALSE(brief.find(gone->client.id(), ""));
  const auto busy = brief.create("");
  const auto busier = brief.create("");
  const HttpSession::Use use_one(busy), use_two(busier);
  CHECK_FALSE(brief.create(""));
}

TEST_CASE("http sessions: a principal makes room among its own sessions first") {
  ManualClock clock;
  Server server({"sessions", "", "1", ""}, {}, {.clock = &clock});
  SessionLimits limits;
  limits.max_sessions = 4;
  limits.principal_sessions = 3;
  HttpSessions sessions(server.dispatcher(), limits);
  const auto of_bob = sessions.create("bob");
  std::vector<std::shared_ptr<HttpSession>> of_alice;
  for (int i = 0; i < 4; ++i) {
    clock.advance_ms(1);
    of_alice.push_back(sessions.create("alice"));
    REQUIRE(of_alice.back());
  }
  CHECK(sessions.find(of_bob->client.id(), "bob"));
  CHECK_FALSE(sessions.find(of_alice[0]->client.id(), "alice"));  // the limit of one principal
  CHECK(sessions.size() == 4);
  clock.advance_ms(1);
  const auto of_carol = sessions.create("carol");  // the total limit; alice has most sessions
  REQUIRE(of_carol);
  CHECK_FALSE(sessions.find(of_alice[1]->client.id(), "alice"));
  CHECK(sessions.find(of_bob->client.id(), "bob"));
  const HttpSession::Use use_one(of_alice[2]), use_two(of_alice[3]);
  CHECK_FALSE(sessions.create("alice"));  // all sessions of alice are in use
  CHECK(sessions.create("bob"));          // ends the other session of bob
  CHECK_FALSE(sessions.find(of_bob->client.id(), "bob"));
  CHECK(sessions.size() == 4);
}

}  // namespace assay::mcp
