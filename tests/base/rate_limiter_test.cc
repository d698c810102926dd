#include "base/rate_limiter.h"

#include <chrono>
#include <string>

#include "tests/catch.h"

namespace assay {

using std::chrono::milliseconds;

TEST_CASE("rate limit: a burst, then the rate, for each key on its own") {
  ManualClock clock;
  RateLimiter limiter({.per_second = 10, .burst = 3}, clock);
  for (int i = 0; i < 3; ++i) CHECK(limiter.take("a") == milliseconds(0));
  CHECK(limiter.take("a") == milliseconds(100));
  clock.advance_ms(40);
  CHECK(limiter.take("a") == milliseconds(60));  // a refused request costs nothing
  CHECK(limiter.take("b") == milliseconds(0));
  clock.advance_ms(60);
  CHECK(limiter.take("a") == milliseconds(0));
  CHECK(limiter.take("a") == milliseconds(100));
  // After a pause of any length, a key can send no more requests at once than the burst.
  clock.advance_ms(3'600'000);
  for (int i = 0; i < 3; ++i) CHECK(limiter.take("a") == milliseconds(0));
  CHECK(limiter.take("a") > milliseconds(0));
}

TEST_CASE("rate limit: none by default, and a burst below one still lets one through") {
  ManualClock clock;
  RateLimiter none({}, clock);
  for (int i = 0; i < 1000; ++i) REQUIRE(none.take("a") == milliseconds(0));
  RateLimiter slow({.per_second = 0.5, .burst = 0}, clock);
  CHECK(slow.take("a") == milliseconds(0));
  CHECK(slow.take("a") == milliseconds(2000));
}

TEST_CASE(
    "rate limit: more keys than there is room for share a bucket, until old ones are full again") {
  ManualClock clock;
  RateLimiter limiter({.per_second = 1, .burst = 2}, clock);
  for (std::size_t i = 0; i < RateLimiter::kMaxKeys; ++i)
    REQUIRE(limiter.take(std::to_string(i)) == milliseconds(0));
  CHECK(limiter.take("x") == milliseconds(0));
  CHECK(limiter.take("y") == milliseconds(0));
  CHECK(limiter.take("z") > milliseconds(0));  // the shared bucket is empty
  clock.advance_ms(10'000);
  for (const char* key : {"x", "x", "y", "y"}) CHECK(limiter.take(key) == milliseconds(0));
  CHECK(limiter.take("y") > milliseconds(0));
}

TEST_CASE("rate limit: a new limit applies to the buckets that exist") {
  ManualClock clock;
  RateLimiter limiter({.per_second = 1, .burst = 1}, clock);
  CHECK(limiter.take("a") == milliseconds(0));
  CHECK(limiter.take("a") == milliseconds(1000));
  limiter.set_limit({.per_second = 10, .burst = 5});
  CHECK(limiter.limit().per_second == 10);
  CHECK(limiter.take("a") == milliseconds(100));
  limiter.set_limit({});
  CHECK(limiter.take("a") == milliseconds(0));
}

}  // namespace assay
