#include "base/concurrency_limiter.h"

#include <thread>
#include <vector>

#include "tests/catch.h"

namespace assay {

TEST_CASE(
    "concurrency limiter: at most two at once, and a place is free again when its pass is "
    "destroyed") {
  ConcurrencyLimiter limiter(2);
  {
    ConcurrencyLimiter::Pass first = limiter.enter();
    const ConcurrencyLimiter::Pass second = limiter.enter();
    CHECK((first && second));
    CHECK_FALSE(limiter.enter());
    CHECK(limiter.inside() == 2);
    const ConcurrencyLimiter::Pass moved = std::move(first);
    CHECK(moved);
    CHECK_FALSE(limiter.enter());
  }
  CHECK(limiter.inside() == 0);
  CHECK(limiter.enter());
}

TEST_CASE("concurrency limiter: never more inside than places, from many threads") {
  constexpr int kPlaces = 3;
  ConcurrencyLimiter limiter(kPlaces);
  std::atomic<int> inside{0}, most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 2000; ++turn) {
        const ConcurrencyLimiter::Pass pass = limiter.enter();
        if (!pass) continue;
        const int now = ++inside;
        for (int seen = most.load(); now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(most >= 1);
  CHECK(most <= kPlaces);
  CHECK(limiter.inside() == 0);
}

}  // namespace assay
