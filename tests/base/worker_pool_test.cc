#include "base/worker_pool.h"

#include <atomic>
#include <chrono>
#include <latch>

#include "tests/catch.h"

namespace assay {

TEST_CASE("worker pool: lazy, bounded, finishes what it took") {
  std::atomic<int> done{0};
  std::latch go(1);
  {
    WorkerPool pool(2, 3);
    CHECK(pool.wait_idle(std::chrono::milliseconds(0)));
    const auto work = [&] {
      go.wait();
      ++done;
    };
    REQUIRE(pool.submit(work));
    REQUIRE(pool.submit(work));
    CHECK_FALSE(pool.wait_idle(std::chrono::milliseconds(50)));
    int accepted = 2;
    while (pool.submit(work)) ++accepted;
    CHECK(accepted == 5);  // two functions run, three wait
    go.count_down();
    CHECK(pool.wait_idle(std::chrono::seconds(60)));
    CHECK(done == 5);
    REQUIRE(pool.submit(work));
  }
  CHECK(done == 6);
}

}  // namespace assay
