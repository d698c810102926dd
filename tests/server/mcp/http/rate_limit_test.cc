#include "server/mcp/http/rate_limit.h"

#include <string>

#include "tests/catch.h"

namespace assay::mcp {
namespace {

using std::chrono::milliseconds;

const RateLimiter::Clock::time_point kStart{};

}  // namespace

TEST_CASE("rate limit: a burst, then the rate, each key for itself") {
  RateLimiter limiter({.per_second = 10, .burst = 3});
  for (int i = 0; i < 3; ++i) CHECK(limiter.take("a", kStart) == milliseconds(0));
  CHECK(limiter.take("a", kStart) == milliseconds(100));
  CHECK(limiter.take("a", kStart + milliseconds(40)) ==
        milliseconds(60));  // asking too early costs nothing
  CHECK(limiter.take("b", kStart + milliseconds(40)) == milliseconds(0));
  CHECK(limiter.take("a", kStart + milliseconds(100)) == milliseconds(0));
  CHECK(limiter.take("a", kStart + milliseconds(100)) == milliseconds(100));
  // A pause refills to the burst and no further.
  for (int i = 0; i < 3; ++i)
    CHECK(limiter.take("a", kStart + std::chrono::hours(1)) == milliseconds(0));
  CHECK(limiter.take("a", kStart + std::chrono::hours(1)) > milliseconds(0));
}

TEST_CASE("rate limit: none by default, and a burst below one still lets one through") {
  RateLimiter none({});
  for (int i = 0; i < 1000; ++i) REQUIRE(none.take("a", kStart) == milliseconds(0));
  RateLimiter slow({.per_second = 0.5, .burst = 0});
  CHECK(slow.take("a", kStart) == milliseconds(0));
  CHECK(slow.take("a", kStart) == milliseconds(2000));
}

TEST_CASE(
    "rate limit: more keys than there is room for share a bucket, until old ones are full again") {
  RateLimiter limiter({.per_second = 1, .burst = 2});
  for (std::size_t i = 0; i < RateLimiter::kMaxKeys; ++i)
    REQUIRE(limiter.take(std::to_string(i), kStart) == milliseconds(0));
  CHECK(limiter.take("x", kStart) == milliseconds(0));
  CHECK(limiter.take("y", kStart) == milliseconds(0));
  CHECK(limiter.take("z", kStart) > milliseconds(0));  // the shared one is empty
  const auto later = kStart + std::chrono::seconds(10);
  for (const char* key : {"x", "x", "y", "y"}) CHECK(limiter.take(key, later) == milliseconds(0));
  CHECK(limiter.take("y", later) > milliseconds(0));
}

}  // namespace assay::mcp
