#include "server/runs/drain.h"

#include <chrono>
#include <string>

#include "tests/catch.h"
#include "tests/server/runs/services_fixture.h"

namespace assay::server {
namespace {

using testing::kEventTimeout;
using testing::ServicesFixture;
using tools::JobState;

constexpr const char* kSleepy = "# fake: sleep_ms=20000\n";
constexpr std::chrono::milliseconds kLimit{30'000};

std::string accepted(ServicesFixture& services, const std::string& source) {
  const auto handle = services->jobs().submit({}, services.job(source), "", "");
  REQUIRE(handle);
  return *handle;
}

/// Waits until a stop of the token is requested. Returns false if that takes too long.
bool is_requested(const std::stop_token& token) {
  Mutex mutex;
  Condition never;
  MutexLock lock(mutex);
  never.wait_for(lock, token, kEventTimeout, [] { return false; });
  return token.stop_requested();
}

/// Returns the error of a job that is sent now.
Error refusal(ServicesFixture& services) {
  const auto handle = services->jobs().submit({}, services.job("# fake: pass\n"), "", "");
  REQUIRE_FALSE(handle);
  return handle.error();
}

}  // namespace

TEST_CASE("drain: without a request it neither begins nor ends") {
  ServicesFixture services;
  std::stop_source begin;
  std::stop_source at_once;
  const Drain drain(services->jobs(), kLimit, {begin.get_token(), at_once.get_token()},
                    services.clock);
  CHECK_FALSE(drain.begun());
  CHECK_FALSE(drain.over().stop_requested());
  accepted(services, "# fake: pass\n");
}

TEST_CASE("drain: running and waiting jobs end, new ones are refused and not stored") {
  ServicesFixture services({}, 1);
  std::stop_source begin;
  std::stop_source at_once;
  const Drain drain(services->jobs(), kLimit, {begin.get_token(), at_once.get_token()},
                    services.clock);
  const std::string running = accepted(services, "# fake: sleep_ms=300\n");
  const std::string waiting = accepted(services, "# fake: fail\n");
  services.wait_until_running(running);
  begin.request_stop();
  CHECK(drain.begun());
  const Error refused = refusal(services);
  CHECK(refused.code == ErrorCode::unavailable);
  CHECK(is_requested(drain.over()));
  CHECK(services.end_of(running).verdict->outcome == sandbox::Outcome::pass);
  CHECK(services.end_of(waiting).verdict->outcome == sandbox::Outcome::fail);
  CHECK(services->store().unfinished_jobs()->empty());
}

TEST_CASE("drain: a server that says that it drains refuses jobs already, at either request") {
  ServicesFixture services;
  std::stop_source begin;
  std::stop_source at_once;
  const Drain drain(services->jobs(), kLimit, {begin.get_token(), at_once.get_token()},
                    services.clock);
  SECTION("orderly") { begin.request_stop(); }
  SECTION("at once") { at_once.request_stop(); }
  CHECK(drain.begun());
  CHECK(refusal(services).code == ErrorCode::unavailable);
}

TEST_CASE("drain: it is over at once if no job is left") {
  ServicesFixture services;
  std::stop_source begin;
  std::stop_source at_once;
  const Drain drain(services->jobs(), kLimit, {begin.get_token(), at_once.get_token()},
                    services.clock);
  begin.request_stop();
  CHECK(is_requested(drain.over()));
}

TEST_CASE("drain: it is over when the time is over, when asked again, and at once with limit 0") {
  ServicesFixture services;
  services.wait_until_running(accepted(services, kSleepy));
  std::stop_source begin;
  std::stop_source at_once;
  SECTION("the time is over") {
    const Drain drain(services->jobs(), kLimit, {begin.get_token(), at_once.get_token()},
                      services.clock);
    begin.request_stop();
    REQUIRE(services.clock.wait_for_looks(1));
    CHECK_FALSE(drain.over().stop_requested());
    services.clock.advance_ms(kLimit.count());
    CHECK(is_requested(drain.over()));
  }
  SECTION("asked again") {
    const Drain drain(services->jobs(), kLimit, {begin.get_token(), at_once.get_token()},
                      services.clock);
    begin.request_stop();
    REQUIRE(services.clock.wait_for_looks(1));
    CHECK_FALSE(drain.over().stop_requested());
    at_once.request_stop();
    CHECK(is_requested(drain.over()));
  }
  SECTION("limit 0") {
    const Drain drain(services->jobs(), std::chrono::milliseconds(0),
                      {begin.get_token(), at_once.get_token()}, services.clock);
    begin.request_stop();
    CHECK(is_requested(drain.over()));
  }
  CHECK(services->store().unfinished_jobs()->size() == 1);
}

TEST_CASE("recover gives the charge of an interrupted job back, but not that of a submission") {
  ServicesFixture services({}, 1);
  const std::string run = services.start(tools::Track::iterative);
  const auto left = [&](sandbox::JobKind kind) {
    return services->runs().calls_left({}, run, "vector_add", kind)->left;
  };
  const std::int64_t tests = left(sandbox::JobKind::test);
  const std::int64_t grades = left(sandbox::JobKind::grade);
  const auto send = [&](sandbox::JobKind kind) {
    const auto handle = services->jobs().submit({}, services.job(kSleepy, kind), run, "");
    REQUIRE(handle);
    return *handle;
  };
  const std::string test = send(sandbox::JobKind::test);
  const std::string grade = send(sandbox::JobKind::grade);
  services.wait_until_running(test);
  CHECK(left(sandbox::JobKind::test) == tests - 1);
  services.close();
  services.open();
  REQUIRE(services->jobs().recover());
  CHECK(left(sandbox::JobKind::test) == tests);
  CHECK(left(sandbox::JobKind::grade) == grades - 1);
  REQUIRE(services->jobs().cancel({}, test));  // the client cancels, and knows the handle
  REQUIRE(services->jobs().cancel({}, grade));
  CHECK(services.end_of(test).job == test);
}

}  // namespace assay::server
