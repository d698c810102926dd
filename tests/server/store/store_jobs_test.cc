// Tests jobs in the store: a job is accepted and charged, and it ends with one verdict. If a step
// fails, none of its changes stay in the store.
#include <SQLiteCpp/SQLiteCpp.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/handle.h"
#include "server/store/store.h"
#include "tests/catch.h"
#include "tests/server/store/failing_store.h"
#include "tests/server/store/stored_job.h"
#include "tests/tools/fixture.h"

namespace assay::server {
namespace {

using namespace stored;
using testing::TemporaryFolder;

}  // namespace

TEST_CASE("another connection sees a submission before accept returns to its caller") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "assay.db";
  const auto store = Store::open(path, StoreMode::read_write);
  REQUIRE(store);
  const sandbox::Job job = job_of("secret = 1\n");
  REQUIRE((*store)->accept(job, "cpu", {}, 7)->accepted());
  SQLite::Database other(path.string(), SQLite::OPEN_READONLY);
  SQLite::Statement query(other, "SELECT source, state, device FROM submissions WHERE job = ?");
  query.bind(1, job.id);
  REQUIRE(query.executeStep());
  CHECK(query.getColumn(0).getString() == "secret = 1\n");
  CHECK(query.getColumn(1).getString() == "queued");
  CHECK(query.getColumn(2).getString() == "cpu");
}

TEST_CASE("calls of many threads never exceed the budget, and each accepted job gets its verdict") {
  constexpr int kThreads = 8, kEach = 10, kBudget = 50;
  const TemporaryFolder folder;
  const auto store = Store::open(folder.path() / "assay.db", StoreMode::read_write);
  REQUIRE(store);
  const tools::RunInfo run = run_of();
  REQUIRE((*store)->insert_run(run, ""));
  std::atomic<int> accepted = 0, finished = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < kEach; ++n) {
          sandbox::Job job = job_of();
          job.run = run.handle;
          const auto answer = (*store)->accept(job, "cpu", {.limit = kBudget}, 100);
          if (!answer || !answer->accepted()) continue;
          ++accepted;
          if ((*store)->finish(job.id, tools::JobState::finished, verdict_of(job), false, 200))
            ++finished;
        }
      });
    }
  }
  CHECK(accepted == kBudget);
  CHECK(finished == kBudget);
  CHECK((*store)->unfinished_jobs()->empty());
  CHECK((*store)->graded(run.handle)->size() == kBudget);
}

TEST_CASE("a job is unfinished until it has a verdict, and has one verdict only") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.path() / "assay.db", StoreMode::read_write);
  REQUIRE(store);
  const sandbox::Job job = job_of();
  REQUIRE((*store)->accept(job, "cpu", {}, 100)->accepted());
  CHECK_FALSE((*store)->finished_job(job.id, "")->has_value());
  const auto unfinished = (*store)->unfinished_jobs();
  REQUIRE(unfinished);
  REQUIRE(unfinished->size() == 1);
  REQUIRE(unfinished->front().request.has_value());
  CHECK(unfinished->front().request->source == job.source);
  REQUIRE((*store)->finish(job.id, tools::JobState::finished, verdict_of(job), false, 350));
  CHECK((*store)->unfinished_jobs()->empty());
  const auto finished = (*store)->finished_job(job.id, "");
  REQUIRE(finished);
  REQUIRE(finished->has_value());
  CHECK((*finished)->elapsed_ms == 250);
  CHECK((*finished)->verdict.perf == 1.5);
  sandbox::Verdict second = verdict_of(job);
  second.outcome = sandbox::Outcome::fail;
  CHECK_FALSE((*store)->finish(job.id, tools::JobState::finished, second, false, 400));
  CHECK((*(*store)->finished_job(job.id, ""))->verdict.outcome == sandbox::Outcome::pass);
  CHECK((*store)->finished_job("job_none", "").error().code == ErrorCode::not_found);
}

TEST_CASE(
    "judged_calls has the results of a run's calls in order, without grades, unfinished jobs and "
    "other runs") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.path() / "assay.db", StoreMode::read_write);
  REQUIRE(store);
  const tools::RunInfo run = run_of();
  REQUIRE((*store)->insert_run(run, ""));
  const auto insert = [&](sandbox::JobKind kind, const std::string& of_run,
                          std::optional<sandbox::ErrorKind> end) {
    sandbox::Job job = job_of();
    job.id = new_handle("job");
    job.kind = kind;
    job.run = of_run;
    REQUIRE((*store)->accept(job, "cpu", {}, 1)->accepted());
    if (!end) return;
    sandbox::Verdict verdict = verdict_of(job);
    verdict.outcome =
        *end == sandbox::ErrorKind::none ? sandbox::Outcome::pass : sandbox::Outcome::error;
    verdict.error_kind = *end;
    verdict.stage = sandbox::Stage::record;
    REQUIRE((*store)->finish(job.id, tools::JobState::finished, verdict, false, 2));
  };
  insert(sandbox::JobKind::compile, run.handle, sandbox::ErrorKind::key_error);
  insert(sandbox::JobKind::test, run.handle, sandbox::ErrorKind::none);
  insert(sandbox::JobKind::test, run.handle, std::nullopt);
  insert(sandbox::JobKind::grade, run.handle, sandbox::ErrorKind::none);
  insert(sandbox::JobKind::test, "", sandbox::ErrorKind::none);
  const auto calls = (*store)->judged_calls(run.handle);
  REQUIRE(calls);
  REQUIRE(calls->size() == 1);
  const std::vector<tools::JudgedCall>& ends = calls->begin()->second;
  REQUIRE(ends.size() == 2);
  CHECK(ends[0].kind == sandbox::JobKind::compile);
  CHECK(ends[0].error_kind == sandbox::ErrorKind::key_error);
  CHECK(ends[0].stage == sandbox::Stage::record);
  CHECK(ends[1].outcome == sandbox::Outcome::pass);
}

TEST_CASE("a charge counts against the budget, locks the source, and can be refunded") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.path() / "assay.db", StoreMode::read_write);
  REQUIRE(store);
  const tools::RunInfo run = run_of();
  REQUIRE((*store)->insert_run(run, ""));
  std::string last;
  const auto accept = [&](const std::string& source, std::int64_t limit) {
    sandbox::Job job = job_of(source);
    job.run = run.handle;
    last = job.id;
    const auto outcome = (*store)->accept(job, "cpu", {.limit = limit, .locks_source = true}, 1);
    REQUIRE(outcome);
    return *outcome;
  };
  const auto refund = [&](const std::string& id) {
    sandbox::Job job = job_of();
    job.id = id;
    REQUIRE((*store)->finish(id, tools::JobState::aborted, verdict_of(job), true, 3));
  };
  CHECK(accept("a", 1).accepted());
  const std::string first = last;
  CHECK_FALSE(accept("a", 1).accepted());
  CHECK(accept("a", 1).used == 1);
  CHECK(accept("b", 5).locked_to == sha256_hex("a"));
  CHECK((*store)->unfinished_jobs()->size() == 1);  // a refused job is not stored
  refund(first);
  CHECK_FALSE(accept("b", 1).accepted());  // the refund does not unlock the source
  CHECK(accept("a", 1).accepted());
  CHECK((*(*store)->tool_calls(run.handle))["vector_add"] == 1);
  refund(last);
  CHECK((*(*store)->tool_calls(run.handle))["vector_add"] == 0);
}

TEST_CASE("a failure anywhere in accept leaves neither a charge nor a job") {
  FailingStore failing;
  const sandbox::Job job = failing.job();
  for (const char* statement : {"INSERT ON submissions", "INSERT ON tool_calls"}) {
    INFO(statement);
    failing.fail_at(statement);
    const auto accepted = failing.store->accept(job, "cpu", {.limit = 1}, 1);
    REQUIRE_FALSE(accepted);
    CHECK(accepted.error().message.find("injected failure") != std::string::npos);
    CHECK(failing.count("submissions") == 0);
    CHECK(failing.count("tool_calls") == 0);
    failing.work_again();
  }
  CHECK(failing.store->accept(job, "cpu", {.limit = 1}, 1)->accepted());
  CHECK(failing.store->tool_calls(failing.run.handle)->at("vector_add") == 1);
}

TEST_CASE("a failure anywhere in finish leaves neither artifacts nor verdict, and no refund") {
  FailingStore failing;
  const sandbox::Job job = failing.job();
  REQUIRE(failing.store->accept(job, "cpu", {.limit = 1}, 1)->accepted());
  sandbox::Verdict verdict = verdict_of(job);
  verdict.artifacts = {{"ptx", "first", "1"}, {"ptx", "second", "2"}};
  const auto finish = [&] {
    return failing.store->finish(job.id, tools::JobState::finished, verdict, true, 2);
  };
  for (const char* statement :
       {"UPDATE ON submissions", "INSERT ON verdicts", "UPDATE ON tool_calls"}) {
    INFO(statement);
    failing.fail_at(statement);
    REQUIRE_FALSE(finish());
    CHECK(failing.count("artifacts") == 0);
    CHECK(failing.count("verdicts") == 0);
    CHECK(failing.store->unfinished_jobs()->size() == 1);
    CHECK(failing.store->tool_calls(failing.run.handle)->at("vector_add") == 1);
    failing.work_again();
  }
  REQUIRE(finish());
  CHECK(failing.store->list_artifacts(job.id)->size() == 2);
  CHECK(failing.store->unfinished_jobs()->empty());
  CHECK(failing.store->tool_calls(failing.run.handle)->empty());
}

}  // namespace assay::server
