#include "sandbox/profile/diagnosis.h"

#include "tests/catch.h"

using namespace assay::sandbox;

namespace {

Roofline timed(double bytes, double flops, double latency_ns, const char* dtype = "float32") {
  Roofline roof = roofline({*peaks_of("cuda:90"), bytes, flops, dtype, {}});
  roof.latency_ns = latency_ns;
  roof.share = roof.floor_ns / latency_ns;
  return roof;
}

KernelReport kernel(std::int64_t launches, std::int64_t blocks) {
  KernelReport made;
  made.name = "k";
  made.launches = launches;
  made.grid = {blocks, 1, 1};
  made.occupancy = 1;
  return made;
}

CodeDigest code(std::int64_t tensor, const char* unit) {
  CodeDigest made;
  made.tensor = tensor;
  made.tensor_unit = unit;
  return made;
}

}  // namespace

TEST_CASE(
    "the roof is that of the units that the code uses, and by the dtype where the code is not "
    "known") {
  const Peaks h200 = *peaks_of("cuda:90");
  CHECK(roofline({h200, 1, 1, "float16", {}}).unit == "float16 tensor");
  CHECK(roofline({h200, 1, 1, "float16", {code(0, "")}}).unit == "float32");
  CHECK(roofline({h200, 1, 1, "float32", {code(8, "tf32 tensor")}}).unit == "tf32 tensor");
  CHECK(roofline({h200, 1, 1, "float64", {code(0, "")}}).unit == "float64");
  const Roofline without = roofline({*peaks_of("cuda:80"), 1, 1, "float8e4nv", {}});
  CHECK(without.unit == "float32");
  CHECK(without.flops_per_s == 19.5e12);
  CHECK(roofline({h200, 4.8e6, 1, "float32", {}}).floor_ns == Approx(1000));
}

TEST_CASE("near a roof that roof bounds it") {
  CHECK(find_bound({timed(302e6, 25e6, 79'400), {kernel(1, 9999)}, {}, 132}).bound ==
        Bound::memory);
  CHECK(find_bound({timed(100e6, 13.4e9, 260'000), {kernel(1, 9999)}, {}, 132}).bound ==
        Bound::compute);
  CHECK(find_bound({timed(302e6, 25e6, 79'400), {kernel(1, 9999)}, {}, 132})
            .reason.find("79 % of the roofline") == 0);
}

TEST_CASE("far from it: launches where they are most of the time, else latency, with what waits") {
  CHECK(find_bound({timed(48e3, 4e3, 2'500), {kernel(1, 3)}, {}, 132}).bound == Bound::launch);
  CHECK(find_bound({timed(48e6, 4e3, 38'000), {kernel(12, 300)}, {}, 132}).bound == Bound::launch);
  const Finding narrow = find_bound({timed(302e6, 25e6, 900'000), {kernel(1, 1)}, {}, 132});
  CHECK(narrow.bound == Bound::latency);
  CHECK(narrow.reason.find("1 thread blocks for 132") != std::string::npos);
  CHECK(narrow.evidence == Evidence::timing);
}

TEST_CASE("without a time the code is all there is") {
  const Roofline large = roofline({*peaks_of("cuda:90"), 302e6, 25e6, "float32", {}});
  CHECK(find_bound({large, {kernel(1, 9999)}, {}, 132}).bound == Bound::memory);
  CHECK(find_bound({large, {kernel(1, 9999)}, {}, 132}).evidence == Evidence::compiled);
  CHECK(find_bound({large, {kernel(1, 8)}, {}, 132}).bound == Bound::latency);
  CHECK(find_bound(
            {roofline({*peaks_of("cuda:90"), 1e3, 1e3, "float32", {}}), {kernel(1, 1)}, {}, 132})
            .bound == Bound::launch);
  CHECK(
      find_bound(
          {roofline({*peaks_of("cuda:90"), 1e6, 1e12, "float16", {}}), {kernel(1, 9999)}, {}, 132})
          .bound == Bound::compute);
}

TEST_CASE("counters win over everything, those of the longest kernel") {
  const auto counted = [](double ns, double memory, double sm) {
    return KernelCounters{
        "k", {{"duration_ns", ns}, {"memory_pct", memory}, {"sm_pct", sm}}, "", {}};
  };
  const Roofline roof = timed(302e6, 25e6, 79'400);
  CHECK(find_bound({roof, {kernel(2, 999)}, {counted(10, 90, 10), counted(90'000, 30, 85)}, 132})
            .bound == Bound::compute);
  CHECK(find_bound({roof, {kernel(2, 999)}, {counted(90'000, 30, 25)}, 132}).bound ==
        Bound::latency);
  CHECK(find_bound({roof, {kernel(2, 999)}, {counted(90'000, 30, 25)}, 132}).evidence ==
        Evidence::counters);
}
