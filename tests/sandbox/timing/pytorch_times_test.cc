#include "sandbox/timing/pytorch_times.h"

#include <chrono>

#include "tests/catch.h"

using namespace assay::sandbox;

TEST_CASE("the shortest of PyTorch's times counts, and three measurements are enough") {
  assay::ManualClock clock;
  PyTorchTimes times(clock);
  CHECK(times.find("a").measured == 0);
  CHECK_FALSE(times.find("a").shortest_ns);
  times.put("a", 300);
  times.put("a", 900);  // as while the processors are busy
  CHECK(times.find("a").shortest_ns == 300);
  CHECK_FALSE(times.find("a").enough());
  times.put("a", 250);
  CHECK(times.find("a").shortest_ns == 250);
  CHECK(times.find("a").enough());
  CHECK_FALSE(times.find("b").shortest_ns);
}

TEST_CASE("a time of PyTorch counts for an hour from its own measurement") {
  assay::ManualClock clock;
  PyTorchTimes times(clock);
  times.put("a", 300);
  clock.advance_ms(1'000);
  times.put("a", 400);
  times.put("a", 500);
  clock.advance_ms(std::chrono::milliseconds(PyTorchTimes::kMostAge).count() - 1'000);
  CHECK(times.find("a").enough());
  clock.advance_ms(1);
  CHECK_FALSE(times.find("a").enough());
  CHECK(times.find("a").shortest_ns == 400);
  times.put("a", 450);
  CHECK(times.find("a").enough());
  clock.advance_ms(1'000);
  CHECK(times.find("a").measured == 1);
  CHECK(times.find("a").shortest_ns == 450);
}
