#include "server/workers/placement.h"

#include "tests/catch.h"

using assay::server::avoid_doubted;
using assay::server::KeptWorker;
using assay::server::place_job;
using assay::server::PoolSize;
using assay::server::size_change;
using assay::server::WorkerLoad;
using assay::server::workers_needed;

namespace {

WorkerLoad load(std::int64_t taken, std::int64_t capacity = 4) {
  return {.taken = taken, .capacity = capacity};
}

}  // namespace

TEST_CASE("a pool needs a worker for each started group of jobs, within its size") {
  const PoolSize size{.per_worker = 4, .least = 1, .most = 3};
  CHECK(workers_needed(size, 0) == 1);
  CHECK(workers_needed(size, 4) == 1);
  CHECK(workers_needed(size, 5) == 2);
  CHECK(workers_needed(size, 100) == 3);
}

TEST_CASE("jobs are spread over the workers that are needed") {
  CHECK(place_job({load(1), load(0), load(0)}, 2) == 1u);
  CHECK(place_job({load(1), load(1), load(0)}, 2) == 0u);
}

TEST_CASE("a worker that is not needed gets a job only if the others are full") {
  CHECK(place_job({load(3), load(0)}, 1) == 0u);
  CHECK(place_job({load(4), load(1), load(0)}, 1) == 1u);
  CHECK_FALSE(place_job({load(4), load(4)}, 1));
}

TEST_CASE("a large worker gets more jobs than a small one") {
  CHECK(place_job({load(6, 12), load(24, 96)}, 2) == 1u);
  CHECK(place_job({load(1, 12), load(24, 96)}, 2) == 0u);
}

TEST_CASE("a worker that takes no jobs is not counted") {
  const WorkerLoad sick{.taken = 0, .capacity = 4, .takes_jobs = false};
  CHECK(place_job({sick, load(2), load(1)}, 2) == 2u);
  CHECK_FALSE(place_job({sick}, 1));
}

TEST_CASE("a worker whose device failed gets jobs only if all others failed too") {
  std::vector<WorkerLoad> workers{load(0), load(3)};
  workers[0].is_doubted = true;
  avoid_doubted(workers);
  CHECK(place_job(workers, 2) == 1u);
  workers = {load(1), load(0)};
  workers[0].takes_jobs = false;
  workers[1].is_doubted = true;
  avoid_doubted(workers);
  CHECK(place_job(workers, 2) == 1u);
}

TEST_CASE("the home of a run gets its job unless it has many more jobs than another worker") {
  const auto home = [](std::int64_t taken) {
    WorkerLoad one = load(taken, 8);
    one.is_home = true;
    return one;
  };
  CHECK(place_job({load(1, 8), home(3)}, 2) == 1u);
  CHECK(place_job({load(1, 8), home(4)}, 2) == 0u);
  CHECK(place_job({load(0, 8), home(1)}, 2) == 0u);  // a worker without a job comes first
  CHECK(place_job({load(0, 8), home(0)}, 2) == 1u);
  CHECK(place_job({load(7, 8), home(8)}, 2) == 0u);              // it is full
  CHECK(place_job({load(1, 8), load(1, 8), home(1)}, 2) == 0u);  // it is not needed
}

TEST_CASE("a doubted worker is replaced while the pool may grow, and ends before a sound one") {
  const KeptWorker busy, idle{.is_idle = true}, doubted{.is_doubted = true},
      idle_doubted{.is_idle = true, .is_doubted = true};
  CHECK(size_change({}, 2, 4).starts == 2);
  CHECK(size_change({busy}, 2, 4).starts == 1);
  CHECK(size_change({doubted}, 1, 4).starts == 1);
  CHECK(size_change({doubted, busy}, 1, 4).starts == 0);  // the other one replaces it
  CHECK(size_change({doubted, busy}, 2, 2).starts == 0);  // no more than `most`
  CHECK(size_change({doubted, doubted, busy}, 3, 4).starts == 1);
  CHECK_FALSE(size_change({idle_doubted}, 1, 1).end);
  CHECK_FALSE(size_change({idle}, 1, 4).end);
  CHECK(size_change({idle, busy, idle}, 2, 4).end == 2U);
  CHECK(size_change({idle_doubted, idle}, 1, 4).end == 0U);
  CHECK(size_change({idle, idle_doubted}, 1, 4).end == 1U);
  CHECK(size_change({idle_doubted, idle, idle}, 1, 4).end == 0U);
  CHECK_FALSE(size_change({doubted, idle}, 1, 4).end);  // the sound one is needed
  CHECK(size_change({doubted, idle, busy}, 1, 4).end == 1U);
}
