#include "server/runs/job_service.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "server/runs/finished_job.h"
#include "tests/catch.h"
#include "tests/server/runs/services_fixture.h"
#include "tools/json/verdict_json.h"

namespace assay::server {
namespace {

using sandbox::ErrorKind;
using sandbox::JobKind;
using sandbox::Outcome;
using testing::ServicesFixture;
using tools::JobState;

constexpr const char* kSlow = "# fake: sleep_ms=20000\n";

std::string submit(ServicesFixture& services, const std::string& source,
                   const std::string& run = "") {
  const auto handle = services->jobs().submit({}, services.job(source), run, "");
  REQUIRE(handle);
  return *handle;
}

}  // namespace

TEST_CASE("a job ends with its verdict, which a later process still finds") {
  ServicesFixture services;
  const std::string job = submit(services, "# fake: fail\n");
  const auto status = services.end_of(job);
  CHECK(status.state == JobState::finished);
  CHECK(status.verdict->error_kind == ErrorKind::wrong_result);
  CHECK(status.verdict->job == job);
  services.close();
  services.open();
  CHECK(services.end_of(job).verdict->error_kind == ErrorKind::wrong_result);
}

TEST_CASE("another connection sees a submission before submit returns") {
  ServicesFixture services;
  const std::string job = submit(services, kSlow);
  SQLite::Database other(services.store_path().string(), SQLite::OPEN_READONLY);
  SQLite::Statement query(
      other, "SELECT source FROM submissions WHERE job = ? AND finished_unix_ms IS NULL");
  query.bind(1, job);
  REQUIRE(query.executeStep());
  CHECK(query.getColumn(0).getString() == kSlow);
}

TEST_CASE("a verdict is in the store before a caller sees it") {
  ServicesFixture services;
  const std::string job = submit(services, "# fake: sleep_ms=20\n");
  services.end_of(job);
  SQLite::Database other(services.store_path().string(), SQLite::OPEN_READONLY);
  SQLite::Statement query(other, "SELECT outcome FROM verdicts WHERE job = ?");
  query.bind(1, job);
  REQUIRE(query.executeStep());
  CHECK(query.getColumn(0).getString() == "pass");
}

TEST_CASE(
    "a stop leaves running and waiting jobs unfinished, and recover queues both again under their "
    "handles") {
  ServicesFixture services({}, 1);
  const std::string running = submit(services, "# fake: sleep_ms=300\n");
  const std::string waiting = submit(services, "# fake: fail\n");
  services.wait_until_running(running);
  services.close();
  services.open();
  CHECK_FALSE(services->jobs().wait({}, running, 0, nullptr));  // unavailable before recover()
  const auto recovered = services->jobs().recover();
  REQUIRE(recovered);
  CHECK(recovered->requeued == 2);
  CHECK(recovered->aborted == 0);
  CHECK(services.end_of(running).verdict->outcome == Outcome::pass);
  CHECK(services.end_of(waiting).verdict->outcome == Outcome::fail);
}

TEST_CASE("a verdict that the stop cut short is not kept") {
  /// A device that returns an incomplete verdict when it is cancelled, as if only an auxiliary step
  /// had been cancelled.
  class HalfDone final : public sandbox::Device {
   public:
    sandbox::DeviceInfo info() const override {
      return {.name = "fake",
              .description = "",
              .can_time = false,
              .best_tier = {},
              .default_target = "",
              .concurrency = 1};
    }
    sandbox::Verdict execute(const sandbox::Job& job, sandbox::JobMonitor& monitor) override {
      Mutex mutex;
      Condition never;
      MutexLock lock(mutex);
      never.wait(lock, monitor.stop, [] { return false; });
      return verdict_without_execution(job, ErrorKind::attribute_error, "found before the stop");
    }
  };
  ServicesFixture services;
  services.close();
  services.open("fake", std::make_unique<HalfDone>());
  const std::string job = submit(services, "# fake: pass\n");
  services.wait_until_running(job);
  services.close();
  services.open();
  const auto recovered = services->jobs().recover();
  REQUIRE(recovered);
  CHECK(recovered->requeued == 1);
  CHECK(services.end_of(job).verdict->outcome == Outcome::pass);
}

TEST_CASE(
    "a job left by a killed server is re-queued; one that cannot be is aborted and not charged") {
  ServicesFixture services;
  const std::string run = services.start(tools::Track::one_shot);
  services.close();
  // Writes what a killed server leaves in the store: the rows of a job that was accepted but has no
  // verdict.
  const auto leave = [&](const std::string& device, const std::string& op,
                         const std::string& source) {
    auto store = Store::open(services.store_path(), StoreMode::read_write);
    REQUIRE(store);
    sandbox::Job job = services.job(source, JobKind::grade, op);
    job.id = new_handle("job");
    job.run = run;
    REQUIRE((*store)->accept(job, device, {.limit = 1, .locks_source = true}, 1)->accepted());
    return job.id;
  };
  const std::string good = leave("fake", "vector_add", "# fake: pass\n");
  const std::string elsewhere = leave("cuda:7", "row_sum", "# fake: pass\n");
  services.open();
  const auto recovered = services->jobs().recover();
  REQUIRE(recovered);
  CHECK(recovered->requeued == 1);
  CHECK(recovered->aborted == 1);
  CHECK(services.end_of(good).verdict->outcome == Outcome::pass);
  const auto aborted = services.end_of(elsewhere);
  CHECK(aborted.state == JobState::aborted);
  CHECK(aborted.verdict->error_kind == ErrorKind::aborted);
  CHECK(aborted.verdict->summary.find("cuda:7") != std::string::npos);
  CHECK(services.accept(run, "row_sum", JobKind::grade, "# fake: pass\n"));
  CHECK_FALSE(services.accept(run, "vector_add", JobKind::grade, "# fake: pass\n"));
}

TEST_CASE("a job that repeatedly takes the server down is aborted") {
  ServicesFixture services({.queued_per_device = {10, 10}, .attempts = 2, .max_wait_ms = 60'000},
                           1);
  const std::string job = submit(services, kSlow);
  for (int i = 0; i < 2; ++i) {
    services.close();
    services.open();
    REQUIRE(services->jobs().recover()->requeued == 1);
  }
  services.close();
  services.open();
  CHECK(services->jobs().recover()->aborted == 1);
  CHECK(services.end_of(job).state == JobState::aborted);
}

TEST_CASE("cancel ends a waiting job at once and a running one soon; a finished job stays") {
  ServicesFixture services({}, 1);
  const std::string running = submit(services, kSlow);
  const std::string waiting = submit(services, kSlow);
  services.wait_until_running(running);
  REQUIRE(services->jobs().cancel({}, waiting));
  CHECK(services.end_of(waiting).state == JobState::cancelled);
  REQUIRE(services->jobs().cancel({}, running));
  CHECK(services.end_of(running).verdict->error_kind == ErrorKind::cancelled);
  const std::string done = submit(services, "# fake: pass\n");
  services.end_of(done);
  REQUIRE(services->jobs().cancel({}, done));
  CHECK(services.end_of(done).verdict->outcome == Outcome::pass);
  CHECK(services->jobs().cancel({}, new_handle("job")).error().code == ErrorCode::not_found);
  CHECK(services->jobs().cancel({}, "x").error().code == ErrorCode::invalid_argument);
}

TEST_CASE("the queue is bounded; a refused job names its position and costs nothing") {
  ServicesFixture services({.queued_per_device = {2, 2}, .attempts = 3, .max_wait_ms = 60'000}, 1);
  const std::string run = services.start(tools::Track::one_shot);
  services.wait_until_running(submit(services, kSlow));
  const std::string first = submit(services, kSlow);
  const std::string second = submit(services, kSlow);
  CHECK(services->jobs().wait({}, first, 0, nullptr)->queue_position == 1);
  CHECK(services->jobs().wait({}, second, 0, nullptr)->queue_position == 2);
  const auto refused = services->jobs().submit({}, services.job("x"), run, "");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::resource_exhausted);
  CHECK(refused.error().message.find("position 3") != std::string::npos);
  CHECK(services.accept(run, "vector_add", JobKind::test, "x"));
}

TEST_CASE("waiting for a device counts as the verdict's stage queue") {
  constexpr std::int64_t kWaitedMs = 5'000;
  ServicesFixture services({}, 1);
  const std::string first = submit(services, kSlow);
  services.wait_until_running(first);
  const std::string waiting = submit(services, "# fake: fail\n");
  services.clock.advance_ms(kWaitedMs);
  REQUIRE(services->jobs().cancel({}, first));
  const auto stages = services.end_of(waiting).verdict->stage_ms;
  REQUIRE(stages.count("queue") == 1);
  CHECK(stages.at("queue") >= kWaitedMs);
}

TEST_CASE("the load of a device counts running and waiting jobs") {
  ServicesFixture services;
  const auto load = [&] { return services->jobs().load().front(); };  // the only device
  CHECK((load().queued == 0 && load().running == 0));
  const std::string first = submit(services, kSlow);
  services.wait_until_running(first);
  const std::string second = submit(services, kSlow);
  const auto now = load();  // read once, because the second job may begin between two readings
  CHECK(now.queued + now.running == 2);
  CHECK(now.running >= 1);
  for (const std::string& job : {second, first}) {
    REQUIRE(services->jobs().cancel({}, job));
    services.end_of(job);
  }
  CHECK((load().queued == 0 && load().running == 0));
}

TEST_CASE("an unknown device is named with the valid ones") {
  ServicesFixture services;
  const auto refused = services->jobs().submit({}, services.job("x"), "", "tpu");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "unknown device 'tpu'; valid: fake");
}

TEST_CASE("wait reports stages while the job runs, and ends in time") {
  ServicesFixture services({}, 1);
  const std::string first = submit(services, kSlow);  // keeps the one worker until the wait began
  const std::string job = submit(services, "# fake: sleep_ms=100\n");
  std::vector<std::string> stages;
  const auto status = services->jobs().wait({}, job, 60'000, [&](const tools::JobStatus& now) {
    if (stages.empty()) CHECK(services->jobs().cancel({}, first));
    stages.push_back(now.stage);
    return true;
  });
  REQUIRE(status);
  CHECK(status->verdict != nullptr);
  CHECK_FALSE(stages.empty());
  const std::string slow = submit(services, kSlow);
  CHECK(services->jobs().wait({}, slow, 50, nullptr)->verdict == nullptr);
}

TEST_CASE("a wait ends when the progress function returns false") {
  ServicesFixture services({}, 1);
  submit(services, kSlow);  // the one worker is busy
  const std::string job = submit(services, "# fake: sleep_ms=100\n");
  const auto status =
      services->jobs().wait({}, job, 20'000, [](const tools::JobStatus&) { return false; });
  REQUIRE(status);
  CHECK(status->verdict == nullptr);
}

TEST_CASE("a wait ends when the clock reaches its end, not before") {
  constexpr std::int64_t kWaitMs = 50'000;
  ServicesFixture services({}, 1);
  const std::string slow = submit(services, kSlow);
  services.wait_until_running(slow);
  tools::JobStatus status;
  std::thread waiter([&] { status = *services->jobs().wait({}, slow, kWaitMs, nullptr); });
  const bool began = services.clock.wait_for_looks(1);
  services.clock.advance_ms(kWaitMs / 2);
  // The waiting function has read the new time and still waits.
  const bool went_on = services.clock.wait_for_looks(5);
  services.clock.advance_ms(kWaitMs / 2);
  waiter.join();
  CHECK(began);
  CHECK(went_on);
  CHECK(status.verdict == nullptr);
  CHECK(status.elapsed_ms >= kWaitMs);
}

TEST_CASE(
    "a verdict that the store refuses is not announced, and the job runs again after a restart") {
  ServicesFixture services({}, 2);
  const std::string job = submit(services, "# fake: sleep_ms=50\n");
  SQLite::Database other(services.store_path().string(), SQLite::OPEN_READWRITE, 5'000);
  other.exec(
      "CREATE TRIGGER injected BEFORE INSERT ON verdicts BEGIN SELECT RAISE(ABORT, 'injected'); "
      "END");
  const auto status = services.end_of(job);
  CHECK(status.verdict->error_kind == ErrorKind::internal_error);
  CHECK(status.verdict->summary.find("could not be stored") != std::string::npos);
  other.exec("DROP TRIGGER injected");
  services.close();
  services.open();
  CHECK(services->jobs().recover()->requeued == 1);
  CHECK(services.end_of(job).verdict->outcome == Outcome::pass);
}

TEST_CASE("a call whose verdict cannot be stored is given back before the next call is checked") {
  ServicesFixture services({}, 1);
  const std::string run = services.start(tools::Track::one_shot);  // one test of each operator
  const auto call = [&] {
    return services->jobs().submit({}, services.job("# fake: pass\n"), run, "");
  };
  SQLite::Database other(services.store_path().string(), SQLite::OPEN_READWRITE, 5'000);
  other.exec(
      "CREATE TRIGGER injected BEFORE INSERT ON verdicts BEGIN SELECT RAISE(ABORT, 'injected'); "
      "END");
  const auto first = call();
  REQUIRE(first);
  CHECK(services.end_of(*first).verdict->error_kind == ErrorKind::internal_error);
  CHECK_FALSE(call());  // the store still fails, so the call still counts
  other.exec("DROP TRIGGER injected");
  const auto second = call();
  REQUIRE(second);
  CHECK(services.end_of(*second).verdict->outcome == Outcome::pass);
  CHECK(services.end_of(*first).verdict->error_kind == ErrorKind::internal_error);
}

TEST_CASE("many callers at once: every job gets its own verdict") {
  ServicesFixture services({}, 4);
  std::vector<std::thread> callers;
  std::mutex mutex;
  int right = 0;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 5; ++i) {
        const bool pass = (caller + i) % 2 == 0;
        const auto handle = services->jobs().submit(
            {}, services.job(pass ? "# fake: pass\n" : "# fake: fail\n"), "", "");
        if (!handle) continue;
        const auto status = services->jobs().wait({}, *handle, 20'000, nullptr);
        const std::lock_guard lock(mutex);
        if (status && status->verdict && (status->verdict->outcome == Outcome::pass) == pass)
          ++right;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(right == 40);
}

TEST_CASE("a pass without a record for each case becomes an internal error") {
  sandbox::Job job;
  job.id = "job_1";
  job.cases.resize(2);
  job.cases[0].id = "small";
  job.cases[1].id = "large";
  sandbox::Verdict verdict;
  verdict.outcome = Outcome::pass;
  verdict.cases.resize(1);
  verdict.cases[0].id = "small";
  verdict.cases[0].outcome = Outcome::pass;
  CHECK(checked_verdict(job, verdict).error_kind == ErrorKind::internal_error);
  const auto skipped = [](std::vector<std::string> ids, std::int64_t hidden) {
    return sandbox::SkippedCases{std::move(ids), hidden, sandbox::SkipReason::too_large, "why"};
  };
  verdict.skipped_cases = {skipped({"large"}, 0)};
  CHECK(checked_verdict(job, verdict).outcome == Outcome::pass);
  verdict.skipped_cases = {skipped({}, 1)};
  CHECK(checked_verdict(job, verdict).outcome == Outcome::error);  // large is a public case
  job.cases[1].hidden = true;
  CHECK(checked_verdict(job, verdict).outcome == Outcome::pass);
  verdict.skipped_cases = {skipped({}, 0)};
  CHECK(checked_verdict(job, verdict).outcome == Outcome::error);
  verdict.skipped_cases = {skipped({}, 1)};
  verdict.cases.push_back(verdict.cases[0]);
  CHECK(checked_verdict(job, verdict).outcome == Outcome::error);
  verdict.cases.clear();
  verdict.skipped_cases = {skipped({"small", "large"}, 0)};
  CHECK(checked_verdict(job, verdict).outcome == Outcome::error);
}

}  // namespace assay::server
