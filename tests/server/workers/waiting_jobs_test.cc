#include "server/workers/waiting_jobs.h"

#include <vector>

#include "tests/catch.h"

using assay::server::kMostPasses;
using assay::server::WaitingJobs;
using assay::server::WorkerLoad;

namespace {

constexpr WaitingJobs::Kind kShared{}, kAlone{.alone = true}, kBatch{.batch = true};

/// Returns workers with these numbers of jobs, each of which has room for four.
std::vector<WorkerLoad> with(const std::vector<std::int64_t>& jobs) {
  std::vector<WorkerLoad> workers;
  for (const std::int64_t taken : jobs)
    workers.push_back(
        {.number = static_cast<std::int64_t>(workers.size()) + 1, .taken = taken, .capacity = 4});
  return workers;
}

}  // namespace

TEST_CASE("jobs get workers in the order in which they came") {
  WaitingJobs waiting;
  const auto first = waiting.add(kShared), second = waiting.add(kShared);
  CHECK_FALSE(waiting.worker_for(second, with({0}), 1));
  CHECK_FALSE(waiting.may_be_next(second));
  CHECK(waiting.worker_for(first, with({0}), 1) == 0u);
  waiting.remove(first);
  CHECK(waiting.may_be_next(second));
  CHECK(waiting.worker_for(second, with({0}), 1) == 0u);
}

TEST_CASE("a bounded number of jobs passes a batch job") {
  WaitingJobs waiting;
  const auto batch = waiting.add(kBatch);
  for (int i = 0; i < kMostPasses; ++i) waiting.remove(waiting.add(kShared));
  const auto last = waiting.add(kShared);
  CHECK_FALSE(waiting.worker_for(last, with({0}), 1));
  CHECK(waiting.worker_for(batch, with({0}), 1) == 0u);
}

TEST_CASE("while one worker is emptied, other jobs run on the others") {
  WaitingJobs waiting;
  const auto alone = waiting.add(kAlone), shared = waiting.add(kShared);
  CHECK_FALSE(waiting.worker_for(alone, with({3, 2}), 2));
  CHECK(waiting.worker_for(shared, with({3, 2}), 2) == 0u);
  waiting.remove(shared);
  // The other worker has less to do now, but the emptied one stays the same.
  const auto next = waiting.add(kShared);
  CHECK(waiting.worker_for(next, with({1, 2}), 2) == 0u);
  CHECK_FALSE(waiting.worker_for(next, with({4, 1}), 2));
  CHECK_FALSE(waiting.worker_for(alone, with({4, 1}), 2));
  CHECK(waiting.worker_for(alone, with({4, 0}), 2) == 1u);
  // Also if the thread of the other job looks first.
  CHECK_FALSE(waiting.worker_for(next, with({4, 0}), 2));
}

TEST_CASE("a job that must run alone takes another worker that is empty before") {
  WaitingJobs waiting;
  const auto alone = waiting.add(kAlone), shared = waiting.add(kShared);
  CHECK_FALSE(waiting.worker_for(alone, with({3, 2}), 2));
  CHECK(waiting.worker_for(shared, with({0, 1}), 2) == 1u);
  CHECK(waiting.worker_for(alone, with({0, 1}), 2) == 0u);
}

TEST_CASE("only one worker is emptied at a time, and no job waits for later ones") {
  WaitingJobs waiting;
  const auto first = waiting.add(kAlone), second = waiting.add(kAlone);
  const auto shared = waiting.add(kShared);
  CHECK_FALSE(waiting.worker_for(second, with({1, 0}), 2));
  CHECK_FALSE(waiting.worker_for(first, with({1, 1}), 2));
  CHECK(waiting.worker_for(shared, with({1, 1}), 2) == 0u);  // it passes both
  CHECK(waiting.worker_for(first, with({0, 1}), 2) == 0u);
  waiting.remove(first);
  // The first worker is busy with the job that runs alone, so the second one is emptied now.
  CHECK_FALSE(waiting.worker_for(second, with({4, 2}), 2));
  CHECK_FALSE(waiting.worker_for(shared, with({4, 2}), 2));
  CHECK(waiting.worker_for(shared, with({0, 2}), 2) == 1u);  // the other one is empty already
  CHECK(waiting.worker_for(second, with({0, 2}), 2) == 0u);
  waiting.remove(second);
  CHECK(waiting.worker_for(shared, with({4, 2}), 2) == 1u);
}

TEST_CASE("a job that must run alone waits for the jobs before it") {
  WaitingJobs waiting;
  const auto shared = waiting.add(kShared), alone = waiting.add(kAlone);
  CHECK_FALSE(waiting.worker_for(alone, with({0}), 1));
  CHECK(waiting.worker_for(shared, with({0}), 1) == 0u);
}

TEST_CASE("a batch job that must run alone is not passed") {
  WaitingJobs waiting;
  const auto alone = waiting.add({.alone = true, .batch = true});
  const auto shared = waiting.add(kShared);
  CHECK_FALSE(waiting.worker_for(shared, with({0}), 1));
  CHECK(waiting.worker_for(alone, with({0}), 1) == 0u);
}

TEST_CASE("another worker is emptied if the chosen one takes no jobs any more") {
  WaitingJobs waiting;
  const auto alone = waiting.add(kAlone), shared = waiting.add(kShared);
  std::vector<WorkerLoad> workers = with({3, 2});
  CHECK(waiting.worker_for(shared, workers, 2) == 0u);
  workers[1].takes_jobs = false;
  CHECK_FALSE(waiting.worker_for(shared, workers, 2));
  workers[1].takes_jobs = true;
  CHECK(waiting.worker_for(shared, workers, 2) == 1u);  // the first worker is emptied now
  workers[0].taken = 0;
  CHECK(waiting.worker_for(alone, workers, 2) == 0u);
}

TEST_CASE("without a worker that takes jobs nothing is emptied") {
  WaitingJobs waiting;
  const auto alone = waiting.add(kAlone), shared = waiting.add(kShared);
  CHECK_FALSE(waiting.worker_for(alone, {}, 1));
  CHECK_FALSE(waiting.worker_for(shared, {}, 1));
  CHECK(waiting.worker_for(alone, with({0}), 1) == 0u);
}

TEST_CASE("a job that must run alone counts as a whole worker") {
  WaitingJobs waiting;
  waiting.add(kShared);
  waiting.add(kAlone);
  CHECK(waiting.size() == 2);
  CHECK(waiting.slots(4) == 5);
}
