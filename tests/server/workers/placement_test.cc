#include "server/workers/placement.h"

#include "tests/catch.h"

using assay::server::place_job;
using assay::server::PoolSize;
using assay::server::WorkerLoad;
using assay::server::workers_needed;

namespace {

constexpr bool kAlone = true, kShared = false;

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
  CHECK(place_job({load(1), load(0), load(0)}, 2, kShared) == 1u);
  CHECK(place_job({load(1), load(1), load(0)}, 2, kShared) == 0u);
}

TEST_CASE("a worker that is not needed gets a job only if the others are full") {
  CHECK(place_job({load(3), load(0)}, 1, kShared) == 0u);
  CHECK(place_job({load(4), load(1), load(0)}, 1, kShared) == 1u);
  CHECK_FALSE(place_job({load(4), load(4)}, 1, kShared));
}

TEST_CASE("a large worker gets more jobs than a small one") {
  CHECK(place_job({load(6, 12), load(24, 96)}, 2, kShared) == 1u);
  CHECK(place_job({load(1, 12), load(24, 96)}, 2, kShared) == 0u);
}

TEST_CASE("a worker that takes no jobs is not counted") {
  const WorkerLoad sick{.taken = 0, .capacity = 4, .takes_jobs = false};
  CHECK(place_job({sick, load(2), load(1)}, 2, kShared) == 2u);
  CHECK_FALSE(place_job({sick}, 1, kShared));
}

TEST_CASE("a job that must be alone goes to a worker without jobs") {
  CHECK(place_job({load(1), load(1), load(0)}, 1, kAlone) == 2u);
  CHECK_FALSE(place_job({load(1), load(1)}, 2, kAlone));
}
