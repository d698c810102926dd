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

TEST_CASE("a store of a newer schema is refused and not changed") {
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

TEST_CASE("a file that is not a store is refused and not changed") {
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
  // Root may write regardless of mode bits, so the file is opened as the user nobody.
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

TEST_CASE("a second writer is refused while the first is open; a reader is not") {
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

TEST_CASE("another connection sees a submission before accept returns to its caller") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "assay.db";
  const auto store = Store::open(path, StoreMode::read_write);
  REQUIRE(store);
  const sandbox::Job job = job_of("secret = 1\n");
  REQUIRE((*store)->accept(job, "cpu", {}, 7)->accepted);
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
  REQUIRE((*store)->accept(job, "cpu", {}, 100)->accepted);
  CHECK_FALSE((*store)->finished_job(job.id)->has_value());
  const auto unfinished = (*store)->unfinished_jobs();
  REQUIRE(unfinished);
  REQUIRE(unfinished->size() == 1);
  REQUIRE(unfinished->front().request.has_value());
  CHECK(unfinished->front().request->source == job.source);
  REQUIRE((*store)->finish(job.id, tools::JobState::finished, verdict_of(job), false, 350));
  CHECK((*store)->unfinished_jobs()->empty());
  const auto finished = (*store)->finished_job(job.id);
  REQUIRE(finished);
  REQUIRE(finished->has_value());
  CHECK((*finished)->elapsed_ms == 250);
  CHECK((*finished)->verdict.perf == 1.5);
  sandbox::Verdict second = verdict_of(job);
  second.outcome = sandbox::Outcome::fail;
  CHECK_FALSE((*store)->finish(job.id, tools::JobState::finished, second, false, 400));
  CHECK((*(*store)->finished_job(job.id))->verdict.outcome == sandbox::Outcome::pass);
  CHECK((*store)->finished_job("job_none").error().code == ErrorCode::not_found);
}

TEST_CASE(
    "judged_calls has the results of a run's calls in order, without grades, unfinished jobs and "
    "other runs") {
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
    job.run = of_run;
    REQUIRE((*store)->accept(job, "cpu", {}, 1)->accepted);
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
  REQUIRE((*store)->insert_run(run));
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
  CHECK(accept("a", 1).accepted);
  const std::string first = last;
  CHECK_FALSE(accept("a", 1).accepted);
  CHECK(accept("a", 1).used == 1);
  CHECK(accept("b", 5).locked_to == sha256_hex("a"));
  CHECK((*store)->unfinished_jobs()->size() == 1);  // a refused job is not stored
  refund(first);
  CHECK_FALSE(accept("b", 1).accepted);  // the refund does not unlock the source
  CHECK(accept("a", 1).accepted);
  CHECK((*(*store)->tool_calls(run.handle))["vector_add"] == 1);
  refund(last);
  CHECK((*(*store)->tool_calls(run.handle))["vector_add"] == 0);
}

namespace {

/// A store with one run. A trigger can make its statements fail.
class FailingStore {
 public:
  FailingStore() { REQUIRE(store->insert_run(run)); }

  /// From now on a statement `on` this table ("INSERT ON verdicts") fails.
  void fail_at(const std::string& statement) {
    other.exec("CREATE TRIGGER injected BEFORE " + statement +
               " BEGIN SELECT RAISE(ABORT, 'injected failure'); END");
  }
  void work_again() { other.exec("DROP TRIGGER injected"); }
  int count(const std::string& table) {
    return other.execAndGet("SELECT count(*) FROM " + table).getInt();
  }
  sandbox::Job job() const {
    sandbox::Job job = job_of();
    job.run = run.handle;
    return job;
  }

  const TemporaryFolder folder;
  const tools::RunInfo run = run_of();
  const std::unique_ptr<Store> store =
      std::move(*Store::open(folder.path() / "assay.db", StoreMode::read_write));

 private:
  SQLite::Database other{(folder.path() / "assay.db").string(), SQLite::OPEN_READWRITE, 5'000};
};

}  // namespace

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
  CHECK(failing.store->accept(job, "cpu", {.limit = 1}, 1)->accepted);
  CHECK(failing.store->tool_calls(failing.run.handle)->at("vector_add") == 1);
}

TEST_CASE("a failure anywhere in finish leaves neither artifacts nor verdict, and no refund") {
  FailingStore failing;
  const sandbox::Job job = failing.job();
  REQUIRE(failing.store->accept(job, "cpu", {.limit = 1}, 1)->accepted);
  sandbox::Verdict verdict = verdict_of(job);
  verdict.artifacts = {{"ptx", "first", "1"}, {"ptx", "second", "2"}};
  const auto finish = [&] {
    return failing.store->finish(job.id, tools::JobState::finished, verdict, true, 2);
  };
  for (const char* statement : {"UPDATE ON submissions", "INSERT ON artifacts",
                                "INSERT ON verdicts", "UPDATE ON tool_calls"}) {
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

TEST_CASE("an artifact above the limit is not stored, and a hint of the verdict names it") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.path() / "assay.db", StoreMode::read_write);
  REQUIRE(store);
  const sandbox::Job job = job_of();
  REQUIRE((*store)->accept(job, "cpu", {}, 1)->accepted);
  sandbox::Verdict verdict = verdict_of(job);
  verdict.artifacts = {{"ptx", "large", std::string(kMaxArtifactBytes + 1, 'x')},
                       {"ptx", "allowed", std::string(kMaxArtifactBytes, 'x')}};
  const auto stored =
      (*store)->finish(job.id, tools::JobState::finished, std::move(verdict), false, 2);
  REQUIRE(stored);
  const auto list = (*store)->list_artifacts(job.id);
  REQUIRE(list->size() == 1);
  CHECK(list->front().second == "ptx allowed");
  REQUIRE(stored->hints.size() == 1);
  CHECK(stored->hints[0].kind == sandbox::HintKind::artifact_too_large);
  CHECK(stored->hints[0].text ==
        "artifact ptx large was not stored: it has 67108865 bytes, the limit is 67108864 "
        "(kMaxArtifactBytes)");
  CHECK((*(*store)->finished_job(job.id))->verdict.hints == stored->hints);
}

TEST_CASE("artifacts are read in slices, byte for byte") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.path() / "assay.db", StoreMode::read_write);
  REQUIRE(store);
  const sandbox::Job job = job_of();
  REQUIRE((*store)->accept(job, "cpu", {}, 1)->accepted);
  const std::string bytes(
      "\0a\xff"
      "b\n",
      5);
  sandbox::Verdict verdict = verdict_of(job);
  verdict.artifacts = {{"plan", "small", bytes}, {"log", "empty", ""}};
  REQUIRE((*store)->finish(job.id, tools::JobState::finished, std::move(verdict), false, 2));
  const auto list = (*store)->list_artifacts(job.id);
  REQUIRE(list->size() == 2);
  CHECK((*list)[0].second == "plan small");
  const auto slice = (*store)->read_artifact((*list)[0].first, 1, 3);
  REQUIRE(slice);
  CHECK(slice->bytes == bytes.substr(1, 3));
  CHECK(slice->total_bytes == 5);
  CHECK((*store)->read_artifact((*list)[0].first, 99, 3)->bytes.empty());
  CHECK((*store)->read_artifact((*list)[1].first, 0, 10)->bytes.empty());
  CHECK((*store)->read_artifact("artifact_3", 0, 1).error().code == ErrorCode::not_found);
}

}  // namespace assay::server
