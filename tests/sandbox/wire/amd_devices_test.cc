#include "sandbox/wire/amd_devices.h"

#include "tests/catch.h"

using namespace assay::sandbox;

TEST_CASE("the memory of an AMD GPU is that of the product in its name") {
  CHECK(amd_memory("hip:gfx942", "AMD Instinct MI300X").bytes_per_s == 5'300'000'000'000);
  CHECK(amd_memory("hip:gfx942", "AMD Instinct MI325X VF").bytes_per_s == 6'000'000'000'000);
  CHECK(amd_memory("hip:gfx90a", "AMD Instinct MI250X/MI250").cache_bytes == 8 << 20);
  CHECK(amd_memory("hip:gfx90a", "AMD Instinct MI250X").bytes_per_s == 1'638'400'000'000);
  CHECK(amd_memory("hip:gfx950", "AMD Instinct MI350X").cache_bytes == 256 << 20);
}

TEST_CASE("an unknown product has the fastest memory of its target, an unknown target has none") {
  CHECK(amd_memory("hip:gfx942", "AMD Instinct MI399").bytes_per_s == 6'000'000'000'000);
  CHECK(amd_memory("hip:gfx942", "MI250").bytes_per_s == 6'000'000'000'000);
  CHECK(amd_memory("hip:gfx1100", "AMD Radeon").bytes_per_s == 0);
  CHECK(amd_memory("hip:gfx1100", "AMD Radeon").cache_bytes == 0);
}
