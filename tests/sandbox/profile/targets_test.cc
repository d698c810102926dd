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

namespace {

/// A product of AMD: its compute units (of one die, for CDNA 2) and highest clock from the data
/// sheet, and the operations of a compute unit in each cycle. AMD publishes the latter in the
/// documents of the architectures and in the formulas of ROCm Compute Profiler
/// (github.com/ROCm/rocm-systems, projects/rocprofiler-compute, 0200_system_speed_of_light.yaml).
struct AmdProduct {
  const char *target, *name;
  int units;
  double ghz;
  int float64, float64_matrix, float32, tf32, float16, float8, int8;
};

constexpr AmdProduct kAmdProducts[] = {
    {"hip:gfx90a", "MI210", 104, 1.7, 128, 256, 256, 0, 1024, 0, 1024},
    {"hip:gfx90a", "MI250", 104, 1.7, 128, 256, 256, 0, 1024, 0, 1024},
    {"hip:gfx90a", "MI250X", 110, 1.7, 128, 256, 256, 0, 1024, 0, 1024},
    {"hip:gfx942", "AMD Instinct MI300A", 228, 2.1, 128, 256, 256, 1024, 2048, 4096, 4096},
    {"hip:gfx942", "AMD Instinct MI300X", 304, 2.1, 128, 256, 256, 1024, 2048, 4096, 4096},
    {"hip:gfx942", "AMD Instinct MI325X", 304, 2.1, 128, 256, 256, 1024, 2048, 4096, 4096},
    {"hip:gfx950", "AMD Instinct MI350X", 256, 2.2, 128, 128, 256, 0, 4096, 8192, 8192},
    {"hip:gfx950", "AMD Instinct MI355X", 256, 2.4, 128, 128, 256, 0, 4096, 8192, 8192}};

}  // namespace

TEST_CASE("the peaks of AMD's products are units x clock x operations of a unit in each cycle") {
  for (const AmdProduct& product : kAmdProducts) {
    const Peaks peaks = peaks_of_product(product.target, product.name, product.units);
    const auto rate = [&](int operations) {
      return product.units * product.ghz * 1e9 * operations;
    };
    INFO(product.name);
    CHECK(peaks.float64 == Approx(rate(product.float64)).epsilon(1e-3));
    CHECK(peaks.float64_tensor == Approx(rate(product.float64_matrix)).epsilon(1e-3));
    CHECK(peaks.float32 == Approx(rate(product.float32)).epsilon(1e-3));
    CHECK(peaks.tf32_tensor == Approx(rate(product.tf32)).epsilon(1e-3));
    CHECK(peaks.float16_tensor == Approx(rate(product.float16)).epsilon(1e-3));
    CHECK(peaks.float8_tensor == Approx(rate(product.float8)).epsilon(1e-3));
    CHECK(peaks.int8_tensor == Approx(rate(product.int8)).epsilon(1e-3));
  }
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
