#include "sandbox/profile/peaks.h"

#include "sandbox/profile/occupancy.h"
#include "tests/catch.h"

using namespace assay::sandbox;

TEST_CASE("each target with peaks has limits and a source, and is the same device in both tables") {
  REQUIRE_FALSE(targets_with_peaks().empty());
  for (const std::string& target : targets_with_peaks()) {
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

TEST_CASE("units by name; what is unknown has no rate") {
  CHECK(peaks_of("cuda:90")->flops_per_s("float16 tensor") == 989.5e12);
  CHECK(peaks_of("cuda:80")->flops_per_s("float8 tensor") == 0);
  CHECK(peaks_of("cuda:90")->flops_per_s("quantum") == 0);
  CHECK_FALSE(peaks_of("cuda:75"));
}
