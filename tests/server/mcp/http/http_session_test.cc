// Lets the sessions, tasks and rates of a server live through a day of an injected clock.
#include "server/mcp/http/http_session.h"

#include <memory>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/rate_limiter.h"
#include "server/mcp/core/task_table.h"
#include "tests/server/mcp/core/task_work.h"
#include "tests/server/mcp/fixture.h"

namespace assay::mcp {

using namespace test;

namespace {

constexpr std::int64_t kMinuteMs = 60'000;
constexpr int kMinutesOfDay = 24 * 60;

std::unique_ptr<Server> server_with(const Clock& clock) {
  return std::make_unique<Server>(ServerInfo{"day", "", "1", ""}, ServerLimits{},
                                  ServerParts{.clock = &clock});
}

}  // namespace

TEST_CASE("a day of clients: sessions that were idle too long are given back") {
  ManualClock clock;
  const auto server = server_with(clock);
  const SessionLimits limits;
  HttpSessions sessions(server->dispatcher(), limits);
  const std::size_t most = static_cast<std::size_t>(limits.idle_ms / kMinuteMs);
  const auto used = sessions.create("alice");
  for (int minute = 0; minute < kMinutesOfDay; ++minute) {
    REQUIRE(sessions.create("client " + std::to_string(minute)));
    clock.advance_ms(kMinuteMs);
    REQUIRE(sessions.find(used->client.id(), "alice"));
    sessions.end_idle();
    REQUIRE(sessions.size() <= most);
  }
  clock.advance_ms(limits.idle_ms);
  sessions.end_idle();
  CHECK(sessions.size() == 0);
  CHECK_FALSE(sessions.find(used->client.id(), "alice"));
}

TEST_CASE("a day of clients: a session with a running request is not idle") {
  ManualClock clock;
  const auto server = server_with(clock);
  HttpSessions sessions(server->dispatcher(), {});
  {
    const HttpSession::Use use(sessions.create(""));
    clock.advance_ms(kMinutesOfDay * kMinuteMs);
    sessions.end_idle();
    CHECK(sessions.size() == 1);
  }
  sessions.end_idle();
  CHECK(sessions.size() == 1);  // its idle time has just begun
  clock.advance_ms(kMinutesOfDay * kMinuteMs);
  sessions.end_idle();
  CHECK(sessions.size() == 0);
}

TEST_CASE("sessions: the calls of a session that ends are stopped while the table is unlocked") {
  ManualClock clock;
  const auto server = server_with(clock);
  HttpSessions sessions(server->dispatcher(), {});
  const auto session = sessions.create("");
  ResolvedCall call;
  call.message.id = 1;
  const InFlight::Ticket ticket = server->dispatcher().admit(call, session->client.id());
  std::size_t left = 1;
  // With the mutex locked, this callback would wait for ever.
  const std::stop_callback on_stop(ticket.stop(), [&] { left = sessions.size(); });
  CHECK(sessions.end(session->client.id(), ""));
  CHECK(ticket.cancelled());
  CHECK(left == 0);
}

TEST_CASE("a day of clients: tasks are given back when their time is over") {
  ManualClock clock;
  ChangeNotifier notifier;
  const TaskLimits limits;
  constexpr std::int64_t kTtlMs = 10 * kMinuteMs;
  TaskTable tasks(limits, nullptr, notifier, clock);
  for (int minute = 0; minute < kMinutesOfDay; ++minute) {
    const auto owner =
        std::make_shared<const Caller>(Caller{"client " + std::to_string(minute % 50), {}});
    const auto task = tasks.start({.caller = owner}, kTtlMs, answer_with(minute));
    REQUIRE(task);
    REQUIRE(tasks.wait(task->record.id, owner->name, {}));
    clock.advance_ms(kMinuteMs);
    tasks.forget_expired();
    REQUIRE(tasks.size() <= kTtlMs / kMinuteMs);
  }
  clock.advance_ms(kTtlMs);
  tasks.forget_expired();
  CHECK(tasks.size() == 0);
}

TEST_CASE("a day of clients: a task whose time is over while it runs is stopped") {
  ManualClock clock;
  ChangeNotifier notifier;
  StubbornWork stubborn;
  TaskTable tasks({}, nullptr, notifier, clock);
  REQUIRE(tasks.start({}, kMinuteMs, stubborn.work()));
  REQUIRE(stubborn.running.becomes(1));
  clock.advance_ms(kMinuteMs);
  tasks.forget_expired();
  CHECK(tasks.size() == 0);
  CHECK(stubborn.noticed.becomes(1));
  stubborn.may_end.count_down();
}

TEST_CASE("a day of clients: the rates of clients that paused are given back") {
  ManualClock clock;
  RateLimiter rates({.per_second = 1, .burst = 5}, clock);
  for (int minute = 0; minute < kMinutesOfDay; ++minute) {
    for (int event = 0; event < 6; ++event) rates.take("address " + std::to_string(minute));
    rates.forget_full();
    REQUIRE(rates.size() == 1);  // the client may not start again with a full bucket
    REQUIRE(rates.take("address " + std::to_string(minute)).count() > 0);
    clock.advance_ms(kMinuteMs);
  }
  rates.forget_full();
  CHECK(rates.size() == 0);
}

}  // namespace assay::mcp
