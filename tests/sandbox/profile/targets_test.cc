#include "sandbox/profile/targets.h"

#include "sandbox/job/target.h"
#include "tests/catch.h"

using namespace assay::sandbox;

TEST_CASE("each target has peaks, limits and a source, for the same device in both tables") {
  for (const std::string_view target : kTargets) {
    const auto peaks = peaks_of(target);
    const auto limits = target_limits(target);
    REQUIRE(peaks);
    REQUIRE(limits);
    CHECK(peaks->device_name == limits->device_name);
    CHECK_FALSE(peaks->source.empty());
    CHECK(peaks->bytes_per_s > 1e12);
    CHECK(peaks->float16_tensor > peaks->float32);
  }
}

TEST_CASE("a unit is found by its name; an unknown unit has no rate") {
  CHECK(peaks_of("cuda:90")->flops_per_s("float16 tensor") == 989.5e12);
  CHECK(peaks_of("cuda:80")->flops_per_s("float8 tensor") == 0);
  CHECK(peaks_of("cuda:90")->flops_per_s("quantum") == 0);
  CHECK_FALSE(peaks_of("cuda:75"));
}

TEST_CASE("a product has its own peaks, in proportion to its multiprocessors") {
  CHECK(peaks_of_product("hip:gfx942", "AMD Instinct MI300A", 228).float16_tensor == 980.6e12);
  CHECK(peaks_of_product("hip:gfx942", "AMD Instinct MI325X", 0).bytes_per_s == 6e12);
  CHECK(peaks_of_product("hip:gfx950", "AMD Instinct MI350X VF", 256).float32 == 144.2e12);
  // An MI250X has 110 compute units in a die, an MI250 has 104.
  CHECK(peaks_of_product("hip:gfx90a", "AMD Instinct MI250X", 110).float64 ==
        Approx(22.65e12 * 110 / 104));
  CHECK(peaks_of_product("hip:gfx942", "AMD Instinct MI308X", 80).float32 ==
        Approx(163.4e12 * 80 / 304));
  CHECK(peaks_of_product("hip:gfx950", "AMD Instinct MI300A", 0).device_name ==
        "AMD Instinct MI355X");
  CHECK(peaks_of_product("cuda:75", "NVIDIA T4", 40).float32 == 0);
}

TEST_CASE("the limiter is the scarcest resource") {
  const TargetLimits hopper = *target_limits("cuda:90");
  SECTION("warps, when nothing else is scarce") {
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
  SECTION("a block that needs more registers than there are does not fit") {
    CHECK(occupancy(hopper, 1024, 255, 0).blocks_per_sm == 0);
  }
  SECTION("blocks of one warp") {
    const Occupancy o = occupancy(hopper, 32, 16, 0);
    CHECK(o.fraction == Approx(0.5));
    CHECK(o.limiter == "blocks");
  }
}

TEST_CASE("a table knows a target, or returns nothing") {
  CHECK(target_limits("hip:gfx942")->warp_size == 64);
  CHECK_FALSE(target_limits("cuda:70"));
  CHECK_FALSE(target_limits(""));
}
