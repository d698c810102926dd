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

TEST_CASE("a time near a peak is bound by that peak") {
  CHECK(find_bound({timed(302e6, 25e6, 79'400), {kernel(1, 9999)}, {}, 132}).bound ==
        Bound::memory);
  CHECK(find_bound({timed(100e6, 13.4e9, 260'000), {kernel(1, 9999)}, {}, 132}).bound ==
        Bound::compute);
  CHECK(find_bound({timed(302e6, 25e6, 79'400), {kernel(1, 9999)}, {}, 132})
            .reason.find("79 % of the roofline") == 0);
}

TEST_CASE(
    "a time far from the roofline is bound by launches if they take most of it, else by latency") {
  CHECK(find_bound({timed(48e3, 4e3, 2'500), {kernel(1, 3)}, {}, 132}).bound == Bound::launch);
  CHECK(find_bound({timed(48e6, 4e3, 38'000), {kernel(12, 300)}, {}, 132}).bound == Bound::launch);
  const Finding narrow = find_bound({timed(302e6, 25e6, 900'000), {kernel(1, 1)}, {}, 132});
  CHECK(narrow.bound == Bound::latency);
  CHECK(narrow.reason.find("1 thread blocks for 132") != std::string::npos);
  CHECK(narrow.evidence == Evidence::timing);
}

TEST_CASE("without a time the compiled code is the evidence") {
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

TEST_CASE("counters of the longest kernel win over all other evidence") {
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

namespace {

Circumstances good() {
  Circumstances at;
  at.finding.bound = Bound::memory;
  at.finding.evidence = Evidence::compiled;
  at.roofline.cost_bytes = 300e6;
  at.roofline.flops_per_s = 67e12;
  at.target = "cuda:90";
  at.dtype = "float32";
  at.multiprocessors = 132;
  KernelReport kernel;
  kernel.name = "k";
  kernel.launches = 1;
  kernel.grid = {1000, 1, 1};
  kernel.registers = 32;
  kernel.occupancy = 1;
  at.kernels = {kernel};
  CodeDigest code;
  code.kernel = "k";
  code.global_loads = {{"128", 8}};
  at.code = {code};
  return at;
}

bool says(const Circumstances& at, const std::string& words) {
  return suggestion(at).find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("each rule finds its own waste and names the number that shows it") {
  Circumstances at = good();
  CHECK(says(at, "Nothing in the compiled code stands out"));
  at.finding.evidence = Evidence::timing;
  CHECK(says(at, "Move fewer bytes"));
  at.roofline.share = 0.93;
  CHECK(says(at, "93 % of the roofline"));
  at = good();
  at.code[0].global_loads = {{"32", 12}, {"128", 1}};
  CHECK(says(at, "12 of its 13 global loads"));
  CHECK(says(at, "tl.multiple_of"));
  at.unaligned_row_bytes = 16777204;
  CHECK(says(at, "rows of 16777204 bytes"));
  CHECK_FALSE(says(at, "tl.multiple_of"));
  at = good();
  at.kernels[0].spill_bytes = 64;
  CHECK(says(at, "spills 64 B"));
  at = good();
  at.kernels[0].grid = {8, 1, 1};
  CHECK(says(at, "8 thread blocks for 132"));
  at = good();
  at.finding.bound = Bound::launch;
  at.kernels[0].launches = 5;
  CHECK(says(at, "Fuse its 5 launches"));
  at = good();
  at.kernels[0].occupancy = 0.25;
  at.kernels[0].occupancy_limiter = "registers";
  CHECK(says(at, "25 % occupancy, limited by registers"));
}

TEST_CASE("matrix instructions that are missing or of an older generation are named") {
  Circumstances at = good();
  at.finding.bound = Bound::compute;
  at.dtype = "float16";
  at.tensor_flops_per_s = 989.5e12;
  CHECK(says(at, "`tl.dot` the roof is 990 instead of 67"));
  at.code[0].tensor = 16;
  at.code[0].opcodes = {{"HMMA", 16}};
  CHECK(says(at, "HMMA, not with Hopper's HGMMA"));
  at.code[0].opcodes = {{"HGMMA", 16}};
  CHECK(says(at, "Try other block sizes"));
}

TEST_CASE("there is always a suggestion") {
  for (const Bound bound : {Bound::memory, Bound::compute, Bound::latency, Bound::launch}) {
    Circumstances at = good();
    at.finding.bound = bound;
    CHECK_FALSE(suggestion(at).empty());
  }
}
