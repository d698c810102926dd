#include "sandbox/timing/baseline_cache.h"

#include <chrono>

#include "tests/catch.h"

using namespace assay::sandbox;

namespace {

const CaseRequest kCase{.id = "large",
                        .hidden = false,
                        .interpreter = false,
                        .axes = {{"m", 4}, {"n", 8}},
                        .dtype = "float32",
                        .distribution = "normal"};

constexpr std::int64_t kMostAgeMs = std::chrono::milliseconds(BaselineCache::kMostAge).count();

std::string key_of(const CaseRequest& request) {
  return BaselineCache::key("softmax", "abc", request);
}

Timing oracle_of(double ns) {
  Timing timing;
  timing.median_ns = ns;
  return timing;
}

}  // namespace

TEST_CASE("times are kept for a while, the oracle's with its age") {
  assay::ManualClock clock;
  BaselineCache cache(clock);
  const std::string key = key_of(kCase);
  CHECK_FALSE(cache.find(key).baseline);
  CHECK_FALSE(cache.find(key).pytorch_ns);
  cache.put(key, {.baseline = oracle_of(100), .pytorch_ns = 300});
  clock.advance_ms(2'000);
  const BaselineTimes soon = cache.find(key);
  REQUIRE(soon.baseline);
  CHECK(soon.baseline->median_ns == 100);
  CHECK(soon.baseline->age_ms == 2'000);
  CHECK(soon.pytorch_ns == 300);
  clock.advance_ms(kMostAgeMs - 2'000);
  CHECK(cache.find(key).baseline);
  clock.advance_ms(1);
  CHECK_FALSE(cache.find(key).baseline);
  CHECK_FALSE(cache.find(key).pytorch_ns);
}

TEST_CASE("a new time of the oracle does not renew PyTorch's time") {
  assay::ManualClock clock;
  BaselineCache cache(clock);
  const std::string key = key_of(kCase);
  cache.put(key, {.baseline = oracle_of(100), .pytorch_ns = 300});
  clock.advance_ms(240'000);
  cache.put(key, {.baseline = oracle_of(90), .pytorch_ns = {}});
  clock.advance_ms(120'000);
  const BaselineTimes later = cache.find(key);
  REQUIRE(later.baseline);
  CHECK(later.baseline->median_ns == 90);
  CHECK(later.baseline->age_ms == 120'000);
  CHECK_FALSE(later.pytorch_ns);
}

TEST_CASE("the key has everything that a time depends on") {
  CaseRequest shape = kCase, dtype = kCase, distribution = kCase, id = kCase;
  shape.axes["n"] = 9;
  dtype.dtype = "float16";
  distribution.distribution = "uniform";
  id.id = "other";
  for (const CaseRequest& other : {shape, dtype, distribution, id})
    CHECK(key_of(other) != key_of(kCase));
  CHECK(BaselineCache::key("softmax", "abd", kCase) != key_of(kCase));
  CHECK(BaselineCache::key("other", "abc", kCase) != key_of(kCase));
}
