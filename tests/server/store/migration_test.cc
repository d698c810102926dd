// Tests stores of an older schema. The server migrates such a store when it opens the store for
// writing, but not when it opens the store for reading.
#include <SQLiteCpp/SQLiteCpp.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/handle.h"
#include "server/store/check.h"
#include "server/store/schema.h"
#include "server/store/store.h"
#include "tests/catch.h"
#include "tests/server/store/schema_v1.h"
#include "tests/server/store/schema_v2.h"
#include "tests/server/store/schema_v3.h"
#include "tests/tools/fixture.h"

namespace assay::server {
namespace {

using testing::TemporaryFolder;

/// Makes a store file as version 1 wrote it. It contains three runs with reported usage, an
/// unfinished job, and a tool call that was charged without a job.
std::filesystem::path old_store(const TemporaryFolder& folder, bool with_later_tables) {
  const auto path = folder.path() / "old.db";
  SQLite::Database db(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec("PRAGMA journal_mode=WAL");
  db.exec(testing::kSchemaVersion1Sql);
  db.exec("PRAGMA user_version=1");
  db.exec("PRAGMA application_id=" + std::to_string(kApplicationId));
  for (const char* run : {"run_paid", "run_free", "run_unknown"}) {
    SQLite::Statement insert(
        db, "INSERT INTO runs VALUES (?,'a','m','one_shot','all','vector_add',1,1,1,1,9,1,9000)");
    insert.bind(1, run);
    insert.exec();
  }
  db.exec(
      "INSERT INTO usage VALUES (1,'run_paid',3,4,0.5,1), (2,'run_free',3,4,0,1), "
      "(3,'run_unknown',3,4,0,1)");
  db.exec(
      "INSERT INTO submissions VALUES ('job_old','run_paid','vector_add','test','cpu','queued',"
      "'x = 1','sha','{}',0,5,NULL)");
  db.exec(
      "INSERT INTO tool_calls VALUES (1,'run_paid','vector_add','test','sha','job_old',0,5), "
      "(2,'run_paid','vector_add','test','sha',NULL,0,6)");
  if (with_later_tables) {
    db.exec(testing::kLaterInVersion1Sql);
    db.exec("INSERT INTO free_usage VALUES (2)");
  }
  return path;
}

/// Makes a store file as version 2 wrote it. It has three artifacts: one of a practice job without
/// a run, one of a run on the track practice, and one of a scored run.
std::filesystem::path store_of_version_2(const TemporaryFolder& folder) {
  const auto path = folder.path() / "old2.db";
  SQLite::Database db(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec("PRAGMA journal_mode=WAL");
  db.exec(testing::kSchemaVersion2Sql);
  db.exec("PRAGMA user_version=2");
  db.exec("PRAGMA application_id=" + std::to_string(kApplicationId));
  db.exec(
      "INSERT INTO runs VALUES ('run_p','a','m','practice','all','vector_add',-1,-1,-1,-1,9,1,9), "
      "('run_s','a','m','one_shot','all','vector_add',1,1,1,1,9,1,9)");
  for (const char* run : {"", "run_p", "run_s"}) {
    const std::string job = std::string("job_") + run;
    db.exec("INSERT INTO submissions VALUES ('" + job + "','" + run +
            "','vector_add','compile','cpu','finished','x','sha','{}',0,5,6)");
    db.exec("INSERT INTO artifacts VALUES ('artifact_" + std::string(run) + "','" + job +
            "','ptx','\xc3\xa4',x'00112233',7)");
  }
  return path;
}

/// Makes a store file as version 3 wrote it. It has a run, and a job that alice sent for this run.
std::filesystem::path store_of_version_3(const TemporaryFolder& folder) {
  const auto path = folder.path() / "old3.db";
  SQLite::Database db(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec(testing::kSchemaVersion3Sql);
  db.exec("PRAGMA user_version=3");
  db.exec("PRAGMA application_id=" + std::to_string(kApplicationId));
  db.exec(
      "INSERT INTO runs VALUES ('run_3','a','m','one_shot','all','vector_add',1,1,1,1,9,1,9000)");
  db.exec(
      "INSERT INTO submissions VALUES ('job_3','run_3','vector_add','test','cpu','queued',"
      "'x = 1','sha','{}',0,5,NULL,'alice')");
  return path;
}

/// Makes a store file as version 6 wrote it. It has one run.
std::filesystem::path store_of_version_6(const TemporaryFolder& folder) {
  const auto path = folder.path() / "old6.db";
  SQLite::Database db(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  for (const char* sql : {testing::kSchemaVersion3Sql, kMigrateFromVersion3Sql,
                          kMigrateFromVersion4Sql, kCallerSizesSql, kMigrateFromVersion5Sql})
    db.exec(sql);
  db.exec("PRAGMA user_version=6");
  db.exec("PRAGMA application_id=" + std::to_string(kApplicationId));
  db.exec(
      "INSERT INTO runs VALUES "
      "('run_6','a','m','one_shot','all','vector_add',1,1,1,1,9,1,9000,'')");
  return path;
}

void check_usage(Store& store, bool with_later_tables) {
  CHECK(store.usage("run_paid")->cost_known);
  CHECK(store.usage("run_paid")->cost_usd == 0.5);
  CHECK(store.usage("run_free")->input_tokens == 3);
  CHECK(store.usage("run_free")->cost_known == with_later_tables);
  CHECK_FALSE(store.usage("run_unknown")->cost_known);
}

}  // namespace

TEST_CASE("a store of version 1 is migrated when it is opened for writing") {
  for (const bool with_later_tables : {true, false}) {
    INFO(with_later_tables);
    const TemporaryFolder folder;
    const auto path = old_store(folder, with_later_tables);
    for (int i = 0; i < 2; ++i) {  // the second open finds nothing to migrate
      const auto store = Store::open(path, StoreMode::read_write);
      REQUIRE(store);
      check_usage(**store, with_later_tables);
      CHECK((*store)->unfinished_jobs()->size() == 1);
      CHECK((*store)->tool_calls("run_paid")->at("vector_add") ==
            1);  // the charge without a job is refunded
      CHECK(*(*store)->task("task_none") == std::nullopt);
    }
    const SQLite::Database raw(path.string(), SQLite::OPEN_READONLY);
    CHECK(raw.tableExists("tasks"));
    CHECK_FALSE(raw.tableExists("free_usage"));
    CHECK(SQLite::Database(path.string()).execAndGet("PRAGMA user_version").getInt() ==
          kSchemaVersion);
  }
}

TEST_CASE("a store of version 1 can be opened for reading, which does not change it") {
  for (const bool with_later_tables : {true, false}) {
    INFO(with_later_tables);
    const TemporaryFolder folder;
    const auto path = old_store(folder, with_later_tables);
    const auto store = Store::open(path, StoreMode::read_only);
    REQUIRE(store);
    check_usage(**store, with_later_tables);
    CHECK((*store)->runs()->size() == 3);
    CHECK(SQLite::Database(path.string()).execAndGet("PRAGMA user_version").getInt() == 1);
  }
}

TEST_CASE("the jobs of older versions are counted for their callers") {
  const TemporaryFolder folder;
  for (const auto& [path, sizes] :
       {std::pair(store_of_version_2(folder), std::vector<std::string>{" 0 6", " 1 3"}),
        std::pair(store_of_version_3(folder), std::vector<std::string>{"alice 1 7"})}) {
    REQUIRE(Store::open(path, StoreMode::read_write));
    const Result<StoreCheck> check = check_store(path);
    REQUIRE(check);
    for (const StoreProblem& problem : check->problems)
      CHECK(problem.kind != StoreProblem::Kind::sizes);
    SQLite::Database raw(path.string(), SQLite::OPEN_READONLY);
    SQLite::Statement query(
        raw, "SELECT caller || ' ' || scored || ' ' || size_bytes FROM caller_sizes ORDER BY 1");
    std::vector<std::string> rows;
    while (query.executeStep()) rows.push_back(query.getColumn(0).getString());
    CHECK(rows == sizes);
  }
}

TEST_CASE("the artifacts of version 2 are counted for their owners, and those of practice expire") {
  const TemporaryFolder folder;
  const auto path = store_of_version_2(folder);
  CHECK((*Store::open(path, StoreMode::read_only))->list_artifacts("job_run_s")->size() == 1);
  const auto store =
      Store::open(path, StoreMode::read_write, {.artifacts = {.practice_age_ms = 100}});
  REQUIRE(store);
  {
    SQLite::Database raw(path.string(), SQLite::OPEN_READONLY);
    SQLite::Statement query(raw,
                            "SELECT artifact || ' ' || scored || ' ' || owner || ' ' || size_bytes "
                            "|| ' ' || at_unix_ms FROM artifact_sizes ORDER BY 1");
    std::vector<std::string> rows;
    while (query.executeStep()) rows.push_back(query.getColumn(0).getString());
    CHECK(rows == std::vector<std::string>{"artifact_ 0  9 7", "artifact_run_p 0  9 7",
                                           "artifact_run_s 1 run_s 9 7"});
  }
  REQUIRE((*store)->remove_expired_artifacts(108));
  CHECK((*store)->list_artifacts("job_")->empty());
  CHECK((*store)->list_artifacts("job_run_p")->empty());
  CHECK((*store)->list_artifacts("job_run_s")->size() == 1);
}

TEST_CASE("a run of version 3 belongs to the principal without a name, and a job to its caller") {
  const TemporaryFolder folder;
  const auto path = store_of_version_3(folder);
  {
    const auto reader = Store::open(path, StoreMode::read_only);  // does not migrate
    REQUIRE(reader);
    CHECK((*reader)->runs()->size() == 1);
    CHECK((*reader)->run("run_3", std::nullopt)->handle == "run_3");
    CHECK_FALSE(*(*reader)->has_ended("run_3"));
  }
  const auto store = Store::open(path, StoreMode::read_write);
  REQUIRE(store);
  CHECK((*store)->run("run_3", "")->handle == "run_3");
  CHECK((*store)->run("run_3", std::nullopt)->handle == "run_3");
  CHECK((*store)->run("run_3", "alice").error().code == ErrorCode::not_found);
  CHECK((*store)->unfinished_jobs()->front().principal == "alice");
  CHECK_FALSE((*store)->finished_job("job_3", "alice")->has_value());  // known, but unfinished
  CHECK((*store)->finished_job("job_3", "").error().code == ErrorCode::not_found);
  CHECK((*store)->end_run("run_3", 7));
  CHECK(*(*store)->has_ended("run_3"));
}

TEST_CASE("the usage of older versions stays when reports get ids") {
  const TemporaryFolder folder;
  const auto path = store_of_version_6(folder);
  {
    SQLite::Database db(path.string(), SQLite::OPEN_READWRITE);
    for (int i = 0; i < 2; ++i)
      db.exec(
          "INSERT INTO usage (run, input_tokens, output_tokens, cost_usd, at_unix_ms) "
          "VALUES ('run_6', 100, 10, 0, 1)");
  }
  const auto store = Store::open(path, StoreMode::read_write);
  REQUIRE(store);
  for (int i = 0; i < 2; ++i)
    REQUIRE((*store)->add_usage("run_6", {.input_tokens = 1, .call_id = "reply_1"}, 2));
  CHECK((*store)->usage("run_6")->input_tokens == 201);
}

TEST_CASE("the suite of a run of version 6 is unknown, and a new run keeps its suite") {
  const TemporaryFolder folder;
  const auto path = store_of_version_6(folder);
  {
    const auto reader = Store::open(path, StoreMode::read_only);  // does not migrate
    REQUIRE(reader);
    REQUIRE((*reader)->runs());
    CHECK((*reader)->runs()->front().suite_id == SuiteId{});
    CHECK((*reader)->run("run_6", "")->request.suite == "all");
  }
  CHECK(SQLite::Database(path.string()).execAndGet("PRAGMA user_version").getInt() == 6);
  const auto store = Store::open(path, StoreMode::read_write);
  REQUIRE(store);
  CHECK((*store)->run("run_6", "")->suite_id == SuiteId{});
  tools::RunInfo run = *(*store)->run("run_6", "");
  run.handle = "run_7";
  run.suite_id = {"assay", "1", "0123"};
  REQUIRE((*store)->insert_run(run, ""));
  CHECK((*store)->run("run_7", "")->suite_id == run.suite_id);
}

TEST_CASE("a store of version 7 can keep transcripts and provenance after its migration") {
  const TemporaryFolder folder;
  const auto path = store_of_version_6(folder);
  {
    SQLite::Database db(path.string(), SQLite::OPEN_READWRITE);
    db.exec(kMigrateFromVersion6Sql);
    db.exec("PRAGMA user_version=7");
  }
  {
    const auto reader = Store::open(path, StoreMode::read_only);  // does not migrate
    REQUIRE(reader);
    CHECK(*(*reader)->transcript("run_6", "vector_add") == std::nullopt);
    CHECK((*reader)->provenance("run_6")->empty());
  }
  const auto store = Store::open(path, StoreMode::read_write);
  REQUIRE(store);
  CHECK(*(*store)->transcript("run_6", "vector_add") == std::nullopt);
  REQUIRE((*store)->put_transcript("run_6", "vector_add", "one", 1));
  REQUIRE((*store)->put_transcript("run_6", "vector_add", "two", 2));
  CHECK((*store)->transcript("run_6", "vector_add")->value() == "two");
  CHECK((*store)->put_transcript("run_none", "vector_add", "x", 1).error().code ==
        ErrorCode::not_found);
  ImportedRun imported;
  imported.info = *(*store)->run("run_6", "");
  imported.info.handle = "run_imported";
  imported.provenance = "a file";
  std::optional<ImportedRun> next = imported;
  const auto take = [&next] { return std::exchange(next, std::nullopt); };
  REQUIRE((*store)->add_imported_runs("0123", take));
  CHECK(*(*store)->provenance("run_imported") == "a file");
  CHECK((*store)->provenance("run_6")->empty());
  CHECK(check_store(path)->problems.empty());
}

TEST_CASE("a store of version 8 keeps the provenance of its runs and can import files") {
  const TemporaryFolder folder;
  const auto path = store_of_version_6(folder);
  {
    SQLite::Database db(path.string(), SQLite::OPEN_READWRITE);
    for (const char* sql : {kMigrateFromVersion6Sql, kAdditionsSql, kLiveSql}) db.exec(sql);
    db.exec("INSERT INTO imported_runs VALUES ('run_6', 'a file')");
    db.exec("PRAGMA user_version=8");
  }
  CHECK(*Store::open(path, StoreMode::read_only).value()->provenance("run_6") == "a file");
  const auto store = Store::open(path, StoreMode::read_write).value();
  CHECK(*store->provenance("run_6") == "a file");
  std::optional<ImportedRun> next(std::in_place);
  next->info = *store->run("run_6", "");
  next->info.handle = "run_imported";
  next->provenance = "a file";
  REQUIRE(store->add_imported_runs("0123", [&next] { return std::exchange(next, std::nullopt); }));
  CHECK(check_store(path)->problems.empty());
}

TEST_CASE("a migrated store has the tables and columns of a new one") {
  const auto columns = [](const std::filesystem::path& path) {
    SQLite::Database db(path.string(), SQLite::OPEN_READONLY);
    SQLite::Statement query(db,
                            "SELECT m.name || '.' || c.name || ' ' || c.type || ' ' || "
                            "c.\"notnull\" || ' ' || ifnull(c.dflt_value, '') "
                            "FROM sqlite_master m, pragma_table_info(m.name) c "
                            "WHERE m.type IN ('table', 'index') ORDER BY 1");
    std::string text;
    while (query.executeStep()) text += query.getColumn(0).getString() + "\n";
    return text;
  };
  const TemporaryFolder folder;
  const auto fresh = folder.path() / "new.db";
  REQUIRE(Store::open(fresh, StoreMode::read_write));
  for (const auto& migrated : {old_store(folder, false), store_of_version_2(folder),
                               store_of_version_3(folder), store_of_version_6(folder)}) {
    REQUIRE(Store::open(migrated, StoreMode::read_write));
    CHECK(columns(migrated) == columns(fresh));
  }
}

}  // namespace assay::server
