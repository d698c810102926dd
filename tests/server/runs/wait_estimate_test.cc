#include "server/runs/wait_estimate.h"

#include "tests/catch.h"

using assay::server::WaitEstimate;

TEST_CASE("a wait is estimated from the last jobs, the position and the number of workers") {
  WaitEstimate estimate(2);
  CHECK_FALSE(estimate.ms(1));
  estimate.add(800);
  CHECK(estimate.ms(1) == 400);
  CHECK(estimate.ms(3) == 1'200);
  for (int i = 0; i < 50; ++i) estimate.add(100);
  CHECK(estimate.ms(2) == 100);
}
