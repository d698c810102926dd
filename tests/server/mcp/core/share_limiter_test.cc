#include "server/mcp/core/share_limiter.h"

#include <atomic>
#include <thread>
#include <vector>

#include "tests/catch.h"

namespace assay {

using Refusal = ShareLimiter::Refusal;

TEST_CASE("one name cannot take all places, and a pass gives its place back") {
  ShareLimiter limiter({.total = 3, .each = 2});
  const ShareLimiter::Pass first = limiter.enter("alice");
  {
    ShareLimiter::Pass second = limiter.enter("alice");
    CHECK((first && second));
    const ShareLimiter::Pass refused = limiter.enter("alice");
    CHECK_FALSE(refused);
    CHECK(refused.refusal() == Refusal::share_taken);
    const ShareLimiter::Pass other = limiter.enter("bob");
    CHECK(other);
    CHECK(limiter.enter("carol").refusal() == Refusal::all_taken);
    const ShareLimiter::Pass moved = std::move(second);
    CHECK(moved);
    CHECK(limiter.inside() == 3);
  }
  CHECK(limiter.inside() == 1);
  CHECK(limiter.enter("alice"));
}

TEST_CASE("only the total limit applies to callers without a name") {
  ShareLimiter limiter({.total = 3, .each = 1});
  const ShareLimiter::Pass first = limiter.enter(""), second = limiter.enter(""),
                           third = limiter.enter("");
  CHECK((first && second && third));
  CHECK(limiter.enter("").refusal() == Refusal::all_taken);
}

TEST_CASE("a pass takes further places, and gives all of them back") {
  ShareLimiter bytes({.total = 100, .each = 60});
  {
    ShareLimiter::Pass alice = bytes.enter("alice", 0);
    REQUIRE(alice);
    CHECK(alice.take(60) == Refusal::none);
    CHECK(alice.take(1) == Refusal::share_taken);
    ShareLimiter::Pass bob = bytes.enter("bob", 10);
    CHECK(bob.take(31) == Refusal::all_taken);
    CHECK(bob.take(30) == Refusal::none);
    CHECK(bytes.inside() == 100);
    CHECK(bytes.enter("carol", 0));  // no place is left, and it needs none
    CHECK(bytes.enter("carol", 1).refusal() == Refusal::all_taken);
    ShareLimiter::Pass moved = std::move(alice);
    CHECK(moved.take(1) == Refusal::all_taken);
  }
  CHECK(bytes.inside() == 0);
  CHECK(bytes.enter("alice", 61).refusal() == Refusal::share_taken);
  CHECK(bytes.enter("", 100));
}

TEST_CASE("fewer places refuse new callers and keep those inside") {
  ShareLimiter limiter({.total = 3, .each = 3});
  {
    const auto one = limiter.enter("alice"), two = limiter.enter("alice");
    limiter.set_places({.total = 3, .each = 1});
    CHECK(limiter.inside() == 2);
    CHECK(limiter.enter("alice").refusal() == Refusal::share_taken);
    CHECK(limiter.enter("bob"));
    limiter.set_places({.total = 2, .each = 1});
    CHECK(limiter.enter("bob").refusal() == Refusal::all_taken);
  }
  CHECK(limiter.enter("alice"));
}

TEST_CASE("threads never exceed the places of a name") {
  ShareLimiter limiter({.total = 8, .each = 2});
  std::atomic<int> inside{0};
  std::atomic<bool> exceeded{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 2'000; ++round) {
        const ShareLimiter::Pass pass = limiter.enter("alice");
        if (!pass) continue;
        if (++inside > 2) exceeded = true;
        --inside;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(exceeded);
  CHECK(limiter.inside() == 0);
}

}  // namespace assay
