// Tests the limits for artifacts, the expiry of artifacts, and the order in which the store removes
// old artifacts when a limit is reached.
#include "server/store/store_limits.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/handle.h"
#include "server/store/store.h"
#include "tests/catch.h"
#include "tests/tools/fixture.h"

namespace assay::server {
namespace {

using sandbox::Artifact;
using sandbox::DroppedArtifact;
using sandbox::DropReason;
using testing::TemporaryFolder;

constexpr std::int64_t kDayMs = 86'400'000;

/// Returns an artifact that counts as `bytes` bytes, including its kind and name.
Artifact artifact_of(std::int64_t bytes, const std::string& name = "a") {
  return {"ptx", name, std::string(static_cast<std::size_t>(bytes) - 3 - name.size(), 'x')};
}

/// A store with limits, and jobs that leave artifacts in it.
class LimitedStore {
 public:
  explicit LimitedStore(const ArtifactLimits& artifacts) { reopen({.artifacts = artifacts}); }

  Store& operator*() { return *store_; }
  void reopen(const StoreLimits& limits) {
    store_.reset();
    store_ = std::move(*Store::open(path(), StoreMode::read_write, limits));
  }
  std::filesystem::path path() const { return folder_.path() / "assay.db"; }

  std::string start(tools::Track track) {
    tools::RunInfo run;
    run.handle = new_handle("run");
    run.request.track = track;
    REQUIRE(store_->insert_run(run, ""));
    return run.handle;
  }
  std::string accept(const std::string& run = "", const std::string& caller = "") {
    sandbox::Job job;
    job.id = new_handle("job");
    job.run = run;
    job.caller = caller;
    job.operator_name = "vector_add";
    REQUIRE(store_->accept(job, "cpu", {}, 1)->accepted());
    callers_[job.id] = caller;
    return job.id;
  }
  /// Ends the job with artifacts. Returns the artifacts that were dropped.
  std::vector<DroppedArtifact> finish(const std::string& job, std::vector<Artifact> artifacts,
                                      std::int64_t now_unix_ms) {
    sandbox::Verdict verdict;
    verdict.outcome = sandbox::Outcome::pass;
    verdict.artifacts = std::move(artifacts);
    const auto stored =
        store_->finish(job, tools::JobState::finished, std::move(verdict), false, now_unix_ms);
    REQUIRE(stored);
    CHECK(stored->outcome == sandbox::Outcome::pass);
    CHECK((*store_->finished_job(job, callers_[job]))->verdict.artifacts_dropped ==
          stored->artifacts_dropped);
    return stored->artifacts_dropped;
  }
  /// Makes a practice job with one artifact. Returns the job's handle.
  std::string practice(std::int64_t bytes, std::int64_t now_unix_ms,
                       const std::string& caller = "") {
    const std::string job = accept("", caller);
    CHECK(finish(job, {artifact_of(bytes)}, now_unix_ms).empty());
    return job;
  }
  bool has(const std::string& job) { return !store_->list_artifacts(job)->empty(); }

 private:
  const TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
  std::map<std::string, std::string> callers_;  // the principals, by job
};

DropReason only_reason(const std::vector<DroppedArtifact>& dropped) {
  REQUIRE(dropped.size() == 1);
  return dropped.front().reason;
}

}  // namespace

TEST_CASE("artifacts above the limit of one artifact or of one job are dropped, others are kept") {
  LimitedStore store({.artifact_bytes = 500, .job_bytes = 800});
  const std::string job = store.accept();
  const auto dropped = store.finish(job,
                                    {artifact_of(501, "large"), artifact_of(500, "b"),
                                     artifact_of(301, "c"), artifact_of(300, "d")},
                                    1);
  CHECK(dropped == std::vector<DroppedArtifact>{{"ptx", "large", 493, DropReason::too_large},
                                                {"ptx", "c", 297, DropReason::job_quota}});
  const auto kept = (*store).list_artifacts(job);
  REQUIRE(kept->size() == 2);
  CHECK((*kept)[0].second == "ptx b");
  CHECK((*kept)[1].second == "ptx d");
}

TEST_CASE("practice beyond a caller's limit displaces that caller's oldest artifacts") {
  LimitedStore store({.owner_bytes = 1'000});
  const std::string of_other = store.practice(900, 1, "bob");
  const std::string first = store.practice(400, 2, "alice");
  const std::string second = store.practice(400, 3, "alice");
  const std::string third = store.practice(400, 4, "alice");
  CHECK_FALSE(store.has(first));
  CHECK(store.has(second));
  CHECK(store.has(third));
  CHECK(store.has(of_other));
  const std::string whole = store.practice(1'000, 5, "alice");
  CHECK_FALSE(store.has(third));
  CHECK(store.has(whole));
  CHECK(only_reason(store.finish(store.accept("", "alice"), {artifact_of(1'001)}, 6)) ==
        DropReason::owner_quota);
  CHECK(store.has(whole));  // an artifact above the limit displaces nothing
}

TEST_CASE("a run of practice counts as its caller's practice, and a scored run for itself") {
  LimitedStore store({.owner_bytes = 1'000});
  const std::string first = store.practice(600, 1, "alice");
  const std::string in_run = store.accept(store.start(tools::Track::practice), "alice");
  CHECK(store.finish(in_run, {artifact_of(600)}, 2).empty());
  CHECK_FALSE(store.has(first));
  const std::string scored = store.accept(store.start(tools::Track::iterative), "alice");
  CHECK(store.finish(scored, {artifact_of(600)}, 3).empty());
  CHECK(store.has(in_run));
}

TEST_CASE("the artifacts of a scored run stay, and a new one above its limit is dropped") {
  LimitedStore store({.owner_bytes = 1'000});
  const std::string run = store.start(tools::Track::one_shot);
  const std::string first = store.accept(run), second = store.accept(run),
                    third = store.accept(run);
  CHECK(store.finish(first, {artifact_of(600)}, 1).empty());
  CHECK(only_reason(store.finish(second, {artifact_of(600)}, 2)) == DropReason::owner_quota);
  CHECK(store.finish(third, {artifact_of(400)}, 3).empty());
  CHECK(store.has(first));
  CHECK(store.has(third));
}

TEST_CASE("in a full store the oldest practice of any caller makes room, and never a scored run") {
  LimitedStore store({.store_bytes = 2'000});
  const std::string scored = store.accept(store.start(tools::Track::scaled));
  CHECK(store.finish(scored, {artifact_of(600)}, 1).empty());
  const std::string first = store.practice(600, 2, "alice");
  const std::string second = store.practice(600, 3, "bob");
  const std::string third = store.practice(600, 4, "carol");
  CHECK_FALSE(store.has(first));
  CHECK(store.has(second));
  const std::string large = store.accept(store.start(tools::Track::scaled));
  CHECK(store.finish(large, {artifact_of(1'400)}, 5).empty());
  CHECK_FALSE(store.has(second));
  CHECK_FALSE(store.has(third));
  CHECK(store.has(scored));
  CHECK(only_reason(store.finish(store.accept(), {artifact_of(100)}, 6)) ==
        DropReason::store_quota);
}

TEST_CASE(
    "artifacts of practice expire when others are stored, or at the start; scored ones stay") {
  LimitedStore store({.practice_age_ms = kDayMs});
  const std::string scored = store.accept(store.start(tools::Track::iterative));
  CHECK(store.finish(scored, {artifact_of(100)}, 0).empty());
  const std::string old = store.practice(100, 0);
  const std::string later = store.practice(100, kDayMs);
  CHECK(store.has(old));  // its age is exactly the limit
  const std::string last = store.practice(100, kDayMs + 1);
  CHECK_FALSE(store.has(old));
  CHECK(store.has(later));
  store.reopen({.artifacts = {.practice_age_ms = kDayMs}});
  REQUIRE((*store).remove_expired_artifacts(2 * kDayMs + 2));
  CHECK_FALSE(store.has(later));
  CHECK_FALSE(store.has(last));
  CHECK(store.has(scored));
  CHECK((*store).finished_job(old, "")->has_value());  // the verdict stays
}

TEST_CASE("a smaller limit takes effect when the store is opened") {
  LimitedStore store({});
  const std::string oldest = store.practice(1'000, 1), newest = store.practice(1'000, 2);
  store.reopen({.artifacts = {.store_bytes = 1'500}});
  REQUIRE((*store).remove_expired_artifacts(3));
  CHECK_FALSE(store.has(oldest));
  CHECK(store.has(newest));
}

TEST_CASE("a failure after older artifacts made room brings them back") {
  LimitedStore store({.owner_bytes = 1'000});
  const std::string first = store.practice(900, 1);
  const std::string second = store.accept();
  SQLite::Database other(store.path().string(), SQLite::OPEN_READWRITE, 5'000);
  other.exec(
      "CREATE TRIGGER injected BEFORE INSERT ON verdicts BEGIN SELECT RAISE(ABORT, 'injected'); "
      "END");
  sandbox::Verdict verdict;
  verdict.artifacts = {artifact_of(900)};
  CHECK_FALSE((*store).finish(second, tools::JobState::finished, verdict, false, 2));
  CHECK(store.has(first));
  CHECK_FALSE(store.has(second));
  CHECK(other.execAndGet("SELECT sum(size_bytes) FROM artifact_sizes").getInt() == 900);
  other.exec("DROP TRIGGER injected");
  CHECK(store.finish(second, {artifact_of(900)}, 3).empty());
  CHECK_FALSE(store.has(first));
}

TEST_CASE("a verdict is stored even if its artifacts cannot be written") {
  LimitedStore store({});
  const std::string old = store.practice(100, 1);
  SQLite::Database other(store.path().string(), SQLite::OPEN_READWRITE, 5'000);
  for (const char* table : {"artifacts", "artifact_sizes"}) {
    INFO(table);
    other.exec(std::string("CREATE TRIGGER injected BEFORE INSERT ON ") + table +
               " BEGIN SELECT RAISE(ABORT, 'injected'); END");
    const std::string job = store.accept();
    CHECK(only_reason(store.finish(job, {artifact_of(100)}, 2)) == DropReason::not_written);
    CHECK_FALSE(store.has(job));
    CHECK(store.has(old));
    other.exec("DROP TRIGGER injected");
  }
}

TEST_CASE("the sum for each owner follows the artifacts that come and go") {
  LimitedStore store({.owner_bytes = 1'000, .practice_age_ms = 1'000});
  const std::string run = store.start(tools::Track::one_shot);
  store.finish(store.accept(run), {artifact_of(300), artifact_of(200)}, 1);
  for (const char* caller : {"alice", "bob", "alice", "alice"}) store.practice(400, 1, caller);
  const auto sums = [&] {
    SQLite::Database db(store.path().string(), SQLite::OPEN_READONLY);
    SQLite::Statement query(db,
                            "SELECT group_concat(scored || size_bytes) FROM (SELECT * FROM "
                            "artifact_owners ORDER BY scored, owner)");
    query.executeStep();
    return query.getColumn(0).getString();
  };
  CHECK(sums() == "0800,0400,1500");
  REQUIRE((*store).remove_expired_artifacts(1'002));
  CHECK(sums() == "00,00,1500");
}

TEST_CASE("the file of a store stays small while practice floods it") {
  LimitedStore store({.owner_bytes = 1 << 20});
  for (int i = 0; i < 40; ++i) store.practice(500'000, i);
  store.reopen({});  // this copies the log into the file
  CHECK(std::filesystem::file_size(store.path()) < (3 << 20));
}

}  // namespace assay::server
