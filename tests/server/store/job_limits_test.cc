// Tests the limits for jobs in the store: the bytes of the jobs of each caller, and the number of
// refunded calls for an operator of a run.
#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <string>

#include "base/handle.h"
#include "server/store/check.h"
#include "server/store/prune_jobs.h"
#include "server/store/store.h"
#include "server/store/store_limits.h"
#include "tests/catch.h"
#include "tests/tools/fixture.h"

namespace assay::server {
namespace {

using Refusal = Acceptance::Refusal;
using testing::TemporaryFolder;

constexpr std::int64_t kKiB = 1'024;

/// A store with limits for jobs. Each job has a source of 10 KiB, so with its request and its
/// verdict it has 10 to 14 KiB.
class JobStore {
 public:
  explicit JobStore(const JobLimits& limits)
      : store_(std::move(*Store::open(path(), StoreMode::read_write, {.jobs = limits}))) {}

  std::filesystem::path path() const { return folder_.path() / "assay.db"; }
  Store& operator*() { return *store_; }

  std::string start(tools::Track track) {
    tools::RunInfo run;
    run.handle = new_handle("run");
    run.request.track = track;
    REQUIRE(store_->insert_run(run, ""));
    return run.handle;
  }
  Refusal offer(sandbox::Job& job, const std::string& caller, const std::string& run = "",
                const std::string& operator_name = "vector_add") {
    job.id = new_handle("job");
    job.caller = caller;
    job.run = run;
    job.operator_name = operator_name;
    job.source = std::string(10 * kKiB, 'x');
    return store_->accept(job, "cpu", {.limit = 100}, ++now_)->refusal;
  }
  std::string accept(const std::string& caller, const std::string& run = "") {
    sandbox::Job job;
    REQUIRE(offer(job, caller, run) == Refusal::none);
    return job.id;
  }
  void finish(const std::string& job, bool refund = false) {
    sandbox::Verdict verdict;
    verdict.artifacts = {{"ptx", "kernel", "0123"}};
    REQUIRE(store_->finish(job, tools::JobState::finished, verdict, refund, ++now_));
  }
  bool has(const std::string& job) { return store_->source(job).has_value(); }
  /// Returns true if the sums in the store are right.
  bool is_sound() const { return check_store(path())->problems.empty(); }

 private:
  const TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
  std::int64_t now_ = 0;
};

}  // namespace

TEST_CASE("a new practice job replaces its caller's oldest finished ones") {
  JobStore store({.practice_bytes = 40 * kKiB});
  const std::string of_bob = store.accept("bob");
  store.finish(of_bob);
  const std::string unfinished = store.accept("alice");
  const std::string second = store.accept("alice"), third = store.accept("alice");
  store.finish(third);
  store.finish(second);
  CHECK(store.is_sound());
  const std::string fourth = store.accept("alice");
  CHECK_FALSE(store.has(second));
  CHECK((*store).list_artifacts(second)->empty());
  for (const std::string& kept : {of_bob, unfinished, third, fourth}) CHECK(store.has(kept));
  CHECK(store.is_sound());
}

TEST_CASE("a practice job is refused if unfinished jobs leave it no room") {
  JobStore store({.practice_bytes = 25 * kKiB});
  const std::string first = store.accept("alice"), second = store.accept("alice");
  sandbox::Job job;
  CHECK(store.offer(job, "alice") == Refusal::no_space);
  CHECK_FALSE(store.has(job.id));
  CHECK(store.offer(job, "bob") == Refusal::none);
  store.finish(first);
  CHECK(store.offer(job, "alice") == Refusal::none);
  CHECK_FALSE(store.has(first));
  CHECK(store.has(second));
}

TEST_CASE("jobs of scored runs are never removed, so further ones are refused") {
  JobStore store({.practice_bytes = 40 * kKiB, .scored_bytes = 30 * kKiB});
  const std::string practice = store.accept("alice", store.start(tools::Track::practice));
  store.finish(practice);
  const std::string first = store.accept("alice", store.start(tools::Track::iterative));
  store.finish(first);
  const std::string run = store.start(tools::Track::iterative);
  const std::string second = store.accept("alice", run);
  store.finish(second);
  sandbox::Job job;
  CHECK(store.offer(job, "alice", run) == Refusal::no_space);
  CHECK((*store).tool_calls(run)->at("vector_add") == 1);  // the refused call is not charged
  for (const std::string& kept : {practice, first, second}) CHECK(store.has(kept));
  CHECK(store.offer(job, "alice") == Refusal::none);
  CHECK(store.is_sound());
}

TEST_CASE("pruning old practice jobs makes room") {
  JobStore store({.practice_bytes = 40 * kKiB});
  store.finish(store.accept("alice"));
  {
    SQLite::Database db(store.path().string(), SQLite::OPEN_READWRITE);
    CHECK(remove_old_jobs(db, 1'000, -1).jobs == 1);
    CHECK(db.execAndGet("SELECT size_bytes FROM caller_sizes WHERE caller = 'alice'").getInt64() ==
          0);
  }
  CHECK(store.is_sound());
}

TEST_CASE("a wrong sum of a caller's jobs is found by the check") {
  JobStore store({});
  store.accept("alice");
  SQLite::Database db(store.path().string(), SQLite::OPEN_READWRITE);
  db.exec("UPDATE caller_sizes SET size_bytes = size_bytes + 1");
  const auto check = check_store(store.path());
  REQUIRE(check->problems.size() == 1);
  CHECK(check->problems.front().kind == StoreProblem::Kind::sizes);
}

TEST_CASE("an operator of a run takes a limited number of calls that are refunded") {
  JobStore store({.refunds = 2});
  const std::string run = store.start(tools::Track::iterative);
  for (int i = 0; i < 2; ++i) store.finish(store.accept("alice", run), /*refund=*/true);
  sandbox::Job job;
  CHECK(store.offer(job, "alice", run) == Refusal::refunds);
  CHECK(store.offer(job, "alice", run, "relu") == Refusal::none);
  CHECK(store.offer(job, "alice", store.start(tools::Track::iterative)) == Refusal::none);
  CHECK(store.offer(job, "alice") == Refusal::none);
}

}  // namespace assay::server
