// Tests the functions of Store that the pages of a running server call at every look.
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include "server/store/store.h"
#include "tests/catch.h"
#include "tests/server/store/stored_job.h"
#include "tests/tools/fixture.h"

using namespace assay;
using namespace assay::server;

namespace {

sandbox::Job job_in(const tools::RunInfo& run, const std::string& operator_name,
                    sandbox::JobKind kind = sandbox::JobKind::grade) {
  sandbox::Job job = stored::job_of("x = '" + operator_name + "'\n");
  job.run = run.handle;
  job.caller = "alice";
  job.operator_name = operator_name;
  job.kind = kind;
  return job;
}

}  // namespace

TEST_CASE("the revision of a principal changes with its results, and only with them") {
  const testing::TemporaryFolder folder;
  const auto store = Store::open(folder.path() / "s.db", StoreMode::read_write).value();
  std::string before = *store->revision_of("alice");
  const std::string other = *store->revision_of("bob");
  const auto changed = [&] {
    const std::string now = *store->revision_of("alice");
    CHECK(*store->revision_of("alice") == now);
    return std::exchange(before, now) != now;
  };
  CHECK_FALSE(changed());
  const tools::RunInfo run = stored::run_of();
  REQUIRE(store->insert_run(run, "alice"));
  CHECK(changed());
  const sandbox::Job job = job_in(run, "vector_add");
  REQUIRE(store->accept(job, "cpu", {}, 10));
  CHECK(changed());
  REQUIRE(store->finish(job.id, tools::JobState::finished, stored::verdict_of(job), false, 20));
  CHECK(changed());
  REQUIRE(store->add_usage(run.handle, {.input_tokens = 1}, 30));
  CHECK(changed());
  REQUIRE(store->put_transcript(run.handle, "vector_add", "{}", 40));
  CHECK(changed());
  CHECK(*store->revision_of("bob") == other);
}

TEST_CASE("the progress of a run counts its operators and calls") {
  const testing::TemporaryFolder folder;
  const auto store = Store::open(folder.path() / "s.db", StoreMode::read_write).value();
  const tools::RunInfo run = stored::run_of();
  REQUIRE(store->insert_run(run, "alice"));
  CHECK(store->progress_of_runs("alice", 5)->at(0).last_unix_ms == 0);
  const sandbox::Job test = job_in(run, "vector_add", sandbox::JobKind::test);
  const sandbox::Job right = job_in(run, "vector_add");
  const sandbox::Job wrong = job_in(run, "row_sum");
  const sandbox::Job open = job_in(run, "gelu");
  std::int64_t now = 10;
  for (const sandbox::Job& job : {test, right, wrong, open}) {
    REQUIRE(store->accept(job, "cpu", {}, now));
    now += 10;
  }
  for (const sandbox::Job& job : {test, right, wrong}) {
    sandbox::Verdict verdict = stored::verdict_of(job);
    if (job.id == wrong.id) verdict.outcome = sandbox::Outcome::fail;
    REQUIRE(store->finish(job.id, tools::JobState::finished, verdict, false, now));
  }
  const RunProgress found = store->progress_of_runs("alice", 5)->at(0);
  CHECK(found.calls == 4);
  CHECK(found.submitted == 2);
  CHECK(found.passed == 1);
  CHECK(found.last_unix_ms == now);
  CHECK(store->progress_of_runs("bob", 5)->empty());
}

TEST_CASE("a look at the store uses indexes and scans no table") {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "s.db";
  REQUIRE(Store::open(path, StoreMode::read_write));
  SQLite::Database db(path.string(), SQLite::OPEN_READONLY);
  for (const std::string sql :
       {"SELECT run FROM runs WHERE principal = 'a' ORDER BY created_unix_ms DESC LIMIT 5",
        "SELECT queued_unix_ms FROM submissions WHERE run = 'r' ORDER BY queued_unix_ms DESC",
        "SELECT count(DISTINCT operator) FROM submissions WHERE run = 'r' AND kind = 'grade'",
        "SELECT number FROM revisions WHERE principal = 'a'"}) {
    SQLite::Statement query(db, "EXPLAIN QUERY PLAN " + sql);
    while (query.executeStep()) {
      const std::string step = query.getColumn(3).getString();
      INFO(sql << ": " << step);
      CHECK(step.find("SEARCH") == 0);
    }
  }
}
