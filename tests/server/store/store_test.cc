#include "server/store/store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <iterator>

#include "base/handle.h"
#include "server/store/schema.h"
#include "tests/catch.h"
#include "tests/tools/fixture.h"
#include "tools/json/verdict_json.h"

namespace assay::server {
namespace {

using testing::TemporaryFolder;
using testing::write_file;

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Error refused(const std::filesystem::path& path, StoreMode mode = StoreMode::read_write) {
  const auto store = Store::open(path, mode);
  REQUIRE_FALSE(store);
  return store.error();
}

sandbox::Job job_of(const std::string& source = "x = 1\n") {
  sandbox::Job job;
  job.id = new_handle("job");
  job.kind = sandbox::JobKind::grade;
  job.operator_name = "vector_add";
  job.source = source;
  return job;
}

sandbox::Verdict verdict_of(const sandbox::Job& job) {
  sandbox::Verdict verdict;
  verdict.job = job.id;
  verdict.kind = job.kind;
  verdict.operator_name = job.operator_name;
  verdict.outcome = sandbox::Outcome::pass;
  verdict.perf = 1.5;
  return verdict;
}

tools::RunInfo run_of() {
  tools::RunInfo run;
  run.handle = new_handle("run");
  run.request = {.agent = "a", .model = "m", .track = tools::Track::iterative, .suite = "all"};
  run.budgets = {.compiles = 20, .tests = 10, .profiles = 10, .submissions = 1, .run_wall_s = 5};
  run.operators = {"row_sum", "vector_add"};
  run.created_unix_ms = 1;
  run.expires_unix_ms = 2;
  return run;
}

}  // namespace

TEST_CASE("a new store is made, with its folders, and opens again") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "deep" / "er" / "assay.db";
  const tools::RunInfo run = run_of();
  {
    const auto store = Store::open(path, StoreMode::read_write);
    REQUIRE(store);
    REQUIRE((*store)->insert_run(run));
  }
  SQLite::Database raw(path.string(), SQLite::OPEN_READONLY);
  CHECK(raw.execAndGet("PRAGMA user_version").getInt() == kSchemaVersion);
  CHECK(raw.execAndGet("PRAGMA journal_mode").getString() == "wal");
  const auto again = Store::open(path, StoreMode::read_write);
  REQUIRE(again);
  const auto found = (*again)->run(run.handle);
  REQUIRE(found);
  CHECK(found->operators == run.operators);
  CHECK(found->budgets.run_wall_s == 5);
  CHECK(found->request.track == tools::Track::iterative);
  CHECK((*again)->run("run_none").error().code == ErrorCode::not_found);
  CHECK((*again)->runs()->size() == 1);
}

TEST_CASE(
    "a store of an Assay that did not tell a cost of 0 from none is read, and its 0 is not known") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "older.db";
  const tools::RunInfo run = run_of();
  {
    const auto store = Store::open(path, StoreMode::read_write);
    REQUIRE(store);
    REQUIRE((*store)->insert_run(run));
    REQUIRE(
        (*store)->add_usage(run.handle, {.input_tokens = 3, .cost_usd = 0, .cost_known = true}, 1));
    CHECK((*store)->usage(run.handle)->cost_known);
  }
  { SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec("DROP TABLE free_usage"); }
  const auto store = Store::open(path, StoreMode::read_only);
  REQUIRE(store);
  const auto usage = (*store)->usage(run.handle);
  REQUIRE(usage);
  CHECK(usage->input_tokens == 3);
  CHECK_FALSE(usage->cost_known);
}

TEST_CASE("a store of a newer schema is refused and left as it is") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "newer.db";
  {
    SQLite::Database raw(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    raw.exec("PRAGMA user_version = 999; CREATE TABLE kept (x)");
  }
  const std::string before = bytes_of(path);
  for (const StoreMode mode : {StoreMode::read_write, StoreMode::read_only}) {
    const Error error = refused(path, mode);
    CHECK(error.code == ErrorCode::unavailable);
    CHECK(error.message.find("999") != std::string::npos);
  }
  CHECK(bytes_of(path) == before);
}

TEST_CASE("what is no store of ours is refused and left as it is") {
  const TemporaryFolder folder;
  const auto text = folder.path() / "text.db";
  write_file(text, std::string(4'000, 'x'));
  CHECK(refused(text).code == ErrorCode::corrupt);
  CHECK(refused(text).message.find("text.db") != std::string::npos);
  CHECK(bytes_of(text) == std::string(4'000, 'x'));

  const auto foreign = folder.path() / "foreign.db";
  {
    SQLite::Database raw(foreign.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    raw.exec("CREATE TABLE t (x)");
  }
  const std::string before = bytes_of(foreign);
  CHECK(refused(foreign).code == ErrorCode::corrupt);
  CHECK(bytes_of(foreign) == before);
  CHECK(refused(folder.path()).code == ErrorCode::unavailable);
}

TEST_CASE("a damaged store is refused") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "assay.db";
  REQUIRE(Store::open(path, StoreMode::read_write));
  std::string bytes = bytes_of(path);
  REQUIRE(bytes.size() > 8192);
  for (std::size_t i = 4096; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
  write_file(path, bytes);
  const Error error = refused(path);
  CHECK(error.code == ErrorCode::corrupt);
  CHECK(error.message.find("assay.db") != std::string::npos);
  CHECK(bytes_of(path) == bytes);
}

TEST_CASE("a store that cannot be written is refused") {
  CHECK(refused("/proc/assay.db").code == ErrorCode::unavailable);
  CHECK(refused("/proc/assay.db").message.find("/proc/assay.db") != std::string::npos);

  const TemporaryFolder folder;
  const auto path = folder.path() / "assay.db";
  REQUIRE(Store::open(path, StoreMode::read_write));
  // Mode bits mean nothing to root: become nobody for the moment of opening.
  ::chmod(folder.path().c_str(), 0777);
  ::chmod((path.string() + ".lock").c_str(), 0666);
  ::chmod(path.c_str(), 0444);
  const bool root = ::geteuid() == 0;
  if (root) REQUIRE(::seteuid(65534) == 0);
  const auto store = Store::open(path, StoreMode::read_write);
  if (root) REQUIRE(::seteuid(0) == 0);
  REQUIRE_FALSE(store);
  CHECK(store.error().code == ErrorCode::unavailable);
  CHECK(store.error().message.find("write") != std::string::npos);
}

TEST_CASE("one writer: a second one is refused while the first lives, a reader is not") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "assay.db";
  {
    const auto first = Store::open(path, StoreMode::read_write);
    REQUIRE(first);
    const Error error = refused(path);
    CHECK(error.code == ErrorCode::unavailable);
    CHECK(error.message.find("in use") != std::string::npos);
    const auto reader = Store::open(path, StoreMode::read_only);
    REQUIRE(reader);
    CHECK((*reader)->insert_run(run_of()).error().code == ErrorCode::unavailable);
  }
  CHECK(Store::open(path, StoreMode::read_write));
  CHECK(refused(folder.path() / "none.db", StoreMode::read_only).code == ErrorCode::not_found);
}

TEST_CASE("a submission is there for another connection before insert_job returns to its caller") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "assay.db";
  const auto store = Store::open(path, StoreMode::read_write);
  REQUIRE(store);
  const sandbox::Job job = job_of("secret = 1\n");
  REQUIRE((*store)->insert_job(job, "", "cpu", 7));
  SQLite::Database other(path.string(), SQLite::OPEN_READONLY);
  SQLite::Statement query(other, "SELECT source, state, device FROM submissions WHERE job = ?");
  query.bind(1, job.id);
  REQUIRE(query.executeStep());
  CHECK(query.getColumn(0).getString() == "secret = 1\n");
  CHECK(query.getColumn(1).getString() == "queued");
  CHECK(query.getColumn(2).getString() == "cpu");
}

TEST_CASE("a job is unfinished until it has a verdict, and has one verdict only") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.path() / "assay.db", StoreMode::read_write);
  REQUIRE(store);
  const sandbox::Job job = job_of();
  REQUIRE((*store)->insert_job(job, "", "cpu", 100));
  CHECK_FALSE((*store)->finished_job(job.id)->has_value());
  const auto unfinished = (*store)->unfinished_jobs();
  REQUIRE(unfinished);
  REQUIRE(unfinished->size() == 1);
  REQUIRE(unfinished->front().request.has_value());
  CHECK(unfinished->front().request->source == job.source);
  REQUIRE((*store)->finish_job(job.id, tools::JobState::finished, verdict_of(job), false, 350));
  CHECK((*store)->unfinished_jobs()->empty());
  const auto finished = (*store)->finished_job(job.id);
  REQUIRE(finished);
  REQUIRE(finished->has_value());
  CHECK((*finished)->elapsed_ms == 250);
  CHECK((*finished)->verdict.perf == 1.5);
  sandbox::Verdict second = verdict_of(job);
  second.outcome = sandbox::Outcome::fail;
  CHECK_FALSE((*store)->finish_job(job.id, tools::JobState::finished, second, false, 400));
  CHECK((*(*store)->finished_job(job.id))->verdict.outcome == sandbox::Outcome::pass);
  CHECK((*store)->finished_job("job_none").error().code == ErrorCode::not_found);
}

TEST_CASE(
    "how a run's calls ended, in order; gradings, other runs and what is unfinished are left out") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.path() / "assay.db", StoreMode::read_write);
  REQUIRE(store);
  const tools::RunInfo run = run_of();
  REQUIRE((*store)->insert_run(run));
  const auto insert = [&](sandbox::JobKind kind, const std::string& of_run,
                          std::optional<sandbox::ErrorKind> end) {
    sandbox::Job job = job_of();
    job.id = new_handle("job");
    job.kind = kind;
    REQUIRE((*store)->insert_job(job, of_run, "cpu", 1));
    if (!end) return;
    sandbox::Verdict verdict = verdict_of(job);
    verdict.outcome =
        *end == sandbox::ErrorKind::none ? sandbox::Outcome::pass : sandbox::Outcome::error;
    verdict.error_kind = *end;
    verdict.stage = sandbox::Stage::record;
    REQUIRE((*store)->finish_job(job.id, tools::JobState::finished, verdict, false, 2));
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

TEST_CASE("charges count, lock and come back") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.path() / "assay.db", StoreMode::read_write);
  REQUIRE(store);
  const tools::RunInfo run = run_of();
  REQUIRE((*store)->insert_run(run));
  const auto charge = [&](const std::string& source, std::int64_t limit, bool lock) {
    const auto outcome = (*store)->charge(run.handle, "vector_add", sandbox::JobKind::grade,
                                          sha256_hex(source), limit, lock, 1);
    REQUIRE(outcome);
    return *outcome;
  };
  CHECK(charge("a", 1, true).granted);
  CHECK_FALSE(charge("a", 1, true).granted);
  CHECK(charge("b", 5, true).locked_to == sha256_hex("a"));

  const sandbox::Job job = job_of("a");
  REQUIRE((*store)->insert_job(job, run.handle, "cpu", 2));
  REQUIRE((*store)->refund_all_unbound());
  CHECK_FALSE(charge("a", 1, true).granted);  // the accepted job still counts
  REQUIRE((*store)->finish_job(job.id, tools::JobState::aborted, verdict_of(job), true, 3));
  CHECK_FALSE(charge("b", 1, true).granted);  // the lock outlives the refund
  CHECK(charge("a", 1, true).granted);
  REQUIRE(
      (*store)->refund_unbound(run.handle, "vector_add", sandbox::JobKind::grade, sha256_hex("a")));
  CHECK(charge("a", 1, true).granted);
  CHECK((*(*store)->tool_calls(run.handle))["vector_add"] == 1);
}

TEST_CASE("artifacts are read in slices, byte for byte") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.path() / "assay.db", StoreMode::read_write);
  REQUIRE(store);
  const sandbox::Job job = job_of();
  REQUIRE((*store)->insert_job(job, "", "cpu", 1));
  const std::string bytes(
      "\0a\xff"
      "b\n",
      5);
  REQUIRE((*store)->insert_artifact("artifact_1", job.id, {"plan", "small", bytes}, 1));
  REQUIRE((*store)->insert_artifact("artifact_2", job.id, {"log", "empty", ""}, 1));
  const auto slice = (*store)->read_artifact("artifact_1", 1, 3);
  REQUIRE(slice);
  CHECK(slice->bytes == bytes.substr(1, 3));
  CHECK(slice->total_bytes == 5);
  CHECK((*store)->read_artifact("artifact_1", 99, 3)->bytes.empty());
  CHECK((*store)->read_artifact("artifact_2", 0, 10)->bytes.empty());
  CHECK((*store)->read_artifact("artifact_3", 0, 1).error().code == ErrorCode::not_found);
  CHECK((*store)->list_artifacts(job.id)->size() == 2);
  CHECK((*store)->insert_artifact("artifact_4", "job_none", {"log", "x", ""}, 1).error().code ==
        ErrorCode::not_found);
}

}  // namespace assay::server
