#include "sandbox/profile/occupancy.h"

#include "tests/catch.h"

using namespace assay::sandbox;

TEST_CASE("the limiter is the scarcest resource") {
  const TargetLimits hopper = *target_limits("cuda:90");
  SECTION("nothing scarce: the warps of a multiprocessor") {
    const Occupancy o = occupancy(hopper, 128, 32, 0);
    CHECK(o.fraction == Approx(1.0));
    CHECK(o.limiter == "warps");
  }
  SECTION("registers") {
    const Occupancy o = occupancy(hopper, 128, 128, 0);  // 65536 / (128 * 32) = 16 warps = 4 blocks
    CHECK(o.blocks_per_sm == 4);
    CHECK(o.fraction == Approx(0.25));
    CHECK(o.limiter == "registers");
  }
  SECTION("registers are handed out in multiples") {
    CHECK(occupancy(hopper, 128, 33, 0).blocks_per_sm ==
          occupancy(hopper, 128, 40, 0).blocks_per_sm);
  }
  SECTION("shared memory") {
    const Occupancy o = occupancy(hopper, 128, 32, 100 * 1024);
    CHECK(o.blocks_per_sm == 2);
    CHECK(o.limiter == "shared memory");
  }
  SECTION("more than there is: none fits") {
    CHECK(occupancy(hopper, 1024, 255, 0).blocks_per_sm == 0);
  }
  SECTION("blocks of one warp") {
    const Occupancy o = occupancy(hopper, 32, 16, 0);
    CHECK(o.fraction == Approx(0.5));
    CHECK(o.limiter == "blocks");
  }
}

TEST_CASE("targets") {
  CHECK(target_limits("hip:gfx942")->warp_size == 64);
  CHECK_FALSE(target_limits("cuda:70"));
  CHECK_FALSE(target_limits(""));
}
