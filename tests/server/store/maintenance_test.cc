#include "server/store/maintenance.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <fstream>
#include <string>
#include <utility>

#include "base/handle.h"
#include "server/store/check.h"
#include "server/store/schema.h"
#include "server/store/store.h"
#include "tests/catch.h"
#include "tests/server/store/schema_v2.h"
#include "tests/tools/fixture.h"

namespace assay::server {
namespace {

using testing::TemporaryFolder;

constexpr std::int64_t kArtifactBytes = 1 << 20;

/// Stores a job with one artifact.
std::string store_artifact(Store& store, const std::string& run, const std::string& kind,
                           std::int64_t now_unix_ms) {
  sandbox::Job job;
  job.id = new_handle("job");
  job.run = run;
  job.source = "x = 1";
  REQUIRE(store.accept(job, "cpu", {}, now_unix_ms)->accepted());
  sandbox::Verdict verdict;
  verdict.artifacts = {{kind, "n", std::string(kArtifactBytes, 'x')}};
  REQUIRE(store.finish(job.id, tools::JobState::finished, verdict, false, now_unix_ms));
  return job.id;
}

/// A store with one artifact of a scored run (time 0) and six artifacts of practice jobs (times 1
/// to 6).
struct FilledStore {
  FilledStore() {
    tools::RunInfo run;
    run.handle = new_handle("run");
    run.request.track = tools::Track::one_shot;
    REQUIRE(store->insert_run(run, ""));
    scored = store_artifact(*store, run.handle, "plan", 0);
    for (int i = 1; i <= 6; ++i) store_artifact(*store, "", i <= 4 ? "ptx" : "log", i);
  }
  std::int64_t stored() const {
    SQLite::Database db(path.string(), SQLite::OPEN_READONLY);
    return db.execAndGet("SELECT count(*) FROM artifacts").getInt64();
  }

  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "assay.db";
  std::unique_ptr<Store> store = std::move(
      *Store::open(path, StoreMode::read_write, {.artifacts = {.practice_age_ms = 1'000'000}}));
  std::string scored;
};

PruneReport pruned(const std::filesystem::path& path, const PruneOptions& options) {
  const Result<PruneReport> report = prune_store(path, options);
  REQUIRE(report);
  return *report;
}

}  // namespace

TEST_CASE("the statistics count artifacts by kind, largest first, and the other rows") {
  const FilledStore filled;
  const Result<StoreStats> stats = store_stats(filled.path);
  REQUIRE(stats);
  REQUIRE(stats->artifacts.size() == 3);
  CHECK(stats->artifacts[0].kind == "ptx");
  CHECK(stats->artifacts[0].count == 4);
  CHECK(stats->artifacts[0].bytes == 4 * kArtifactBytes);
  CHECK(stats->artifacts[0].oldest_unix_ms == 1);
  CHECK(stats->artifacts[1].kind == "log");
  CHECK(stats->artifacts[2].scored);
  CHECK(stats->runs == 1);
  CHECK(stats->submissions == 7);
  CHECK(stats->source_bytes == 7 * 5);
  CHECK(stats->verdicts == 7);
  CHECK(stats->sizes.file_bytes + stats->sizes.log_bytes > 7 * kArtifactBytes);
}

TEST_CASE("kinds that a submission invents are cut and put together") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "assay.db";
  {
    const auto store = Store::open(path, StoreMode::read_write);
    for (int i = 0; i < 20; ++i)
      store_artifact(**store, "", std::to_string(i) + "\x1b" + std::string(100, 'k'), i);
  }
  const auto stats = store_stats(path);
  REQUIRE(stats);
  REQUIRE(stats->artifacts.size() == 17);
  CHECK(stats->artifacts[16].kind == "other kinds");
  CHECK(stats->artifacts[16].count == 4);
  for (const ArtifactCount& one : stats->artifacts) {
    CHECK(one.kind.size() <= 32);
    CHECK(one.kind.find('\x1b') == std::string::npos);
  }
}

TEST_CASE("pruning by age removes practice, keeps scored runs, and makes the file smaller") {
  FilledStore filled;
  filled.store.reset();
  const PruneOptions rule = {.before_unix_ms = 5};
  PruneOptions only_told = rule;
  only_told.dry_run = true;
  const PruneReport told = pruned(filled.path, only_told);
  CHECK(told.space == SpaceReturn::none);
  CHECK(filled.stored() == 7);
  const PruneReport done = pruned(filled.path, rule);
  for (const PruneReport& report : {told, done}) {
    REQUIRE(report.removed.size() == 1);
    CHECK(report.removed[0].kind == "ptx");
    CHECK(report.removed[0].count == 4);
    CHECK(report.practice_bytes_left == 2 * (kArtifactBytes + 4));
    CHECK(report.scored_bytes_left == kArtifactBytes + 5);
  }
  CHECK(filled.stored() == 3);
  CHECK(done.space == SpaceReturn::returned);
  CHECK(done.after.free_bytes == 0);
  CHECK(done.after.log_bytes == 0);
  CHECK(done.after.file_bytes < done.before.file_bytes - 3 * kArtifactBytes);
}

TEST_CASE("pruning to a size removes the oldest practice, and stops before scored runs") {
  FilledStore filled;
  filled.store.reset();
  CHECK(pruned(filled.path, {.most_bytes = 3 * (kArtifactBytes + 5)}).removed[0].count == 4);
  CHECK(filled.stored() == 3);
  const PruneReport all = pruned(filled.path, {.most_bytes = 1});
  CHECK(all.practice_bytes_left == 0);
  CHECK(all.scored_bytes_left > 1);
  CHECK(filled.stored() == 1);
  const auto again = Store::open(filled.path, StoreMode::read_write);
  REQUIRE(again);
  CHECK((*again)->list_artifacts(filled.scored)->size() == 1);
  CHECK(pruned(filled.path, {.most_bytes = 1}).removed.empty());
}

TEST_CASE("pruning beside the writer of the store leaves both working") {
  FilledStore filled;
  const PruneReport report = pruned(filled.path, {.before_unix_ms = 100});
  CHECK(report.removed.size() == 2);
  CHECK(report.space == SpaceReturn::returned);
  CHECK(report.after.file_bytes < 3 * kArtifactBytes);
  const std::string job = store_artifact(*filled.store, "", "ptx", 200);
  CHECK(filled.store->list_artifacts(job)->size() == 1);
  CHECK(filled.store->list_artifacts(filled.scored)->size() == 1);
}

TEST_CASE("a reader keeps the file from shrinking, and the report says so") {
  FilledStore filled;
  filled.store.reset();
  SQLite::Database reader(filled.path.string(), SQLite::OPEN_READONLY);
  SQLite::Statement open(reader, "SELECT artifact FROM artifacts");
  REQUIRE(open.executeStep());
  const PruneReport report = pruned(filled.path, {.before_unix_ms = 100});
  CHECK(report.removed.size() == 2);
  CHECK(report.space == SpaceReturn::partly);
}

TEST_CASE("a file of an older Assay is rewritten, unless a server uses it") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "old.db";
  {
    SQLite::Database db(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    db.exec("PRAGMA journal_mode=WAL");
    db.exec(testing::kSchemaVersion2Sql);
    db.exec("PRAGMA user_version=2");
    db.exec("PRAGMA application_id=" + std::to_string(kApplicationId));
  }
  CHECK(store_stats(path));
  const Result<PruneReport> refused = prune_store(path, {.dry_run = true});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("schema 2") != std::string::npos);
  auto server =
      Store::open(path, StoreMode::read_write, {.artifacts = {.practice_age_ms = 1'000'000}});
  REQUIRE(server);
  for (int i = 0; i < 4; ++i) store_artifact(**server, "", "ptx", i);
  const PruneReport beside = pruned(path, {.before_unix_ms = 100});
  CHECK(beside.space == SpaceReturn::in_server);
  CHECK(beside.after.free_bytes > 3 * kArtifactBytes);
  server->reset();
  const PruneReport alone = pruned(path, {.before_unix_ms = 100});
  CHECK(alone.space == SpaceReturn::returned);
  CHECK(alone.after.free_bytes == 0);
  CHECK(alone.after.file_bytes < kArtifactBytes);
  CHECK(SQLite::Database(path.string()).execAndGet("PRAGMA auto_vacuum").getInt() == 2);
}

TEST_CASE("maintenance refuses a file that is missing or no store, and does not change it") {
  const TemporaryFolder folder;
  const auto missing = folder.path() / "none.db";
  CHECK(store_stats(missing).error().code == ErrorCode::not_found);
  CHECK(prune_store(missing, {}).error().code == ErrorCode::not_found);
  CHECK_FALSE(std::filesystem::exists(missing));
  const auto text = folder.path() / "text.db";
  testing::write_file(text, std::string(4'000, 'x'));
  CHECK(store_stats(text).error().code == ErrorCode::corrupt);
  CHECK(prune_store(text, {}).error().code == ErrorCode::corrupt);
  CHECK(std::filesystem::file_size(text) == 4'000);
}

namespace {

std::int64_t rows_of(const std::filesystem::path& path, const std::string& table) {
  SQLite::Database db(path.string(), SQLite::OPEN_READONLY);
  return db.execAndGet("SELECT count(*) FROM " + table).getInt64();
}

/// Stores a run that is over at time 10, with a job that ends at `end`, or that never ends if `end`
/// is 0. Returns the run's handle.
std::string store_run(Store& store, tools::Track track, std::int64_t end) {
  tools::RunInfo run;
  run.handle = new_handle("run");
  run.request.track = track;
  run.expires_unix_ms = 10;
  REQUIRE(store.insert_run(run, ""));
  REQUIRE(store.add_usage(run.handle, {.input_tokens = 1}, 1));
  if (end > 0) {
    store_artifact(store, run.handle, "ptx", end);
    return run.handle;
  }
  sandbox::Job job;
  job.id = new_handle("job");
  job.run = run.handle;
  REQUIRE(store.accept(job, "cpu", {}, 1)->accepted());
  return run.handle;
}

}  // namespace

TEST_CASE("prune removes old practice jobs as a whole, and keeps scored, new and unfinished ones") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "assay.db";
  const auto store = std::move(*Store::open(path, StoreMode::read_write));
  for (int i = 0; i < 450; ++i) {  // more than one transaction removes
    sandbox::Job job;
    job.id = new_handle("job");
    job.source = "x = 1";
    REQUIRE(store->accept(job, "cpu", {}, 1)->accepted());
    REQUIRE(store->finish(job.id, tools::JobState::finished, {}, false, 5));
  }
  store_artifact(*store, "", "ptx", 5);
  const std::string newer = store_artifact(*store, "", "ptx", 30);
  const std::string over = store_run(*store, tools::Track::practice, 5);
  const std::string used = store_run(*store, tools::Track::practice, 30);
  const std::string unfinished = store_run(*store, tools::Track::practice, 0);
  const std::string scored = store_run(*store, tools::Track::one_shot, 5);
  PruneOptions options{.jobs_before_unix_ms = 20, .dry_run = true};
  const PruneReport would = pruned(path, options);
  CHECK(would.removed_jobs.jobs == 452);
  CHECK(would.removed_jobs.runs == 1);
  CHECK(would.removed_jobs.bytes > 2 * kArtifactBytes);
  CHECK(rows_of(path, "submissions") == 456);
  options.dry_run = false;
  const PruneReport report = pruned(path, options);
  CHECK(report.removed_jobs.jobs == would.removed_jobs.jobs);
  CHECK(report.removed_jobs.runs == would.removed_jobs.runs);
  CHECK(report.removed_jobs.bytes == would.removed_jobs.bytes);
  CHECK(rows_of(path, "submissions") == 4);
  CHECK(rows_of(path, "artifacts") == 3);
  CHECK(store->finished_job(newer, ""));
  CHECK(store->run(over, std::nullopt).error().code == ErrorCode::not_found);
  for (const std::string& run : {used, unfinished, scored}) CHECK(store->run(run, std::nullopt));
  CHECK(check_store(path)->problems.empty());
  const PruneReport again = pruned(path, options);
  CHECK((again.removed_jobs.jobs == 0 && again.removed_jobs.runs == 0));
}

}  // namespace assay::server
