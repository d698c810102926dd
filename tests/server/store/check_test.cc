#include "server/store/check.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <fstream>
#include <string>

#include "base/handle.h"
#include "server/store/store.h"
#include "tests/catch.h"
#include "tests/tools/fixture.h"

namespace assay::server {
namespace {

using Kind = StoreProblem::Kind;

/// A store with a finished job that has an artifact, and an unfinished job.
struct SmallStore {
  SmallStore() {
    auto store = Store::open(path, StoreMode::read_write);
    REQUIRE(store);
    for (std::string* id : {&finished, &unfinished}) {
      sandbox::Job job;
      job.id = *id = new_handle("job");
      job.source = "x = 1";
      REQUIRE((*store)->accept(job, "cpu", {}, 1)->accepted());
    }
    sandbox::Verdict verdict;
    verdict.artifacts = {{"ptx", "kernel", "code"}};
    REQUIRE((*store)->finish(finished, tools::JobState::finished, verdict, false, 2));
  }
  void change(const std::string& sql) const {
    SQLite::Database db(path.string(), SQLite::OPEN_READWRITE);
    db.exec(sql);
  }
  /// Returns the kind of the only problem of the store.
  Kind only_problem() const {
    const auto check = check_store(path);
    REQUIRE(check);
    REQUIRE(check->problems.size() == 1);
    CHECK(check->problems[0].count >= 1);
    CHECK_FALSE(check->problems[0].what.empty());
    return check->problems[0].kind;
  }

  const testing::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "assay.db";
  std::string finished, unfinished;
};

}  // namespace

TEST_CASE("store check: a store without damage has no problems, also while it is in use") {
  const SmallStore small;
  const auto server = Store::open(small.path, StoreMode::read_write);
  REQUIRE(server);
  const auto check = check_store(small.path);
  REQUIRE(check);
  CHECK(check->problems.empty());
  CHECK(check->jobs == 2);
  CHECK(check->unfinished_jobs == 1);
}

TEST_CASE("store check: rows that refer to nothing are found") {
  const SmallStore small;
  SECTION("an artifact without its job") {
    small.change("PRAGMA foreign_keys=OFF; UPDATE artifacts SET job = 'job_gone'");
  }
  SECTION("a job without its run") {
    small.change("UPDATE submissions SET run = 'run_gone' WHERE finished_unix_ms IS NULL");
  }
  CHECK(small.only_problem() == Kind::references);
}

TEST_CASE("store check: wrong sizes of artifacts are found") {
  const SmallStore small;
  SECTION("a wrong size") { small.change("UPDATE artifacts SET bytes = x'00'"); }
  SECTION("a wrong sum") { small.change("UPDATE artifact_owners SET size_bytes = 1"); }
  CHECK(small.only_problem() == Kind::sizes);
}

TEST_CASE("store check: missing, unreadable and superfluous verdicts are found") {
  const SmallStore small;
  SECTION("missing") { small.change("DELETE FROM verdicts"); }
  SECTION("unreadable") {
    small.change("UPDATE verdicts SET document = replace(document, '{', 'x')");
  }
  SECTION("superfluous") { small.change("UPDATE submissions SET finished_unix_ms = NULL"); }
  CHECK(small.only_problem() == Kind::verdicts);
}

TEST_CASE("store check: a damaged page is found") {
  const SmallStore small;
  small.change("PRAGMA wal_checkpoint(TRUNCATE)");
  // Overwrites the content of an index, so that it disagrees with its table.
  small.change(
      "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM "
      "sqlite_schema WHERE name = 'tool_calls_by_job') WHERE name = 'artifacts_by_job'");
  CHECK(small.only_problem() == Kind::pages);
}

TEST_CASE("store check: a file that is no store is an error") {
  const SmallStore small;
  CHECK(check_store(small.folder.path() / "none.db").error().code == ErrorCode::not_found);
  const auto other = small.folder.path() / "other";
  std::ofstream(other) << std::string(5'000, 'x');
  CHECK(check_store(other).error().code == ErrorCode::corrupt);
}

}  // namespace assay::server
