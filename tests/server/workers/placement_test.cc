#include "server/workers/placement.h"

#include "tests/catch.h"

using assay::server::avoid_doubted;
using assay::server::place_job;
using assay::server::PoolSize;
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
