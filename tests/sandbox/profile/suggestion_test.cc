#include "sandbox/profile/suggestion.h"

#include "tests/catch.h"

using namespace assay::sandbox;

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

TEST_CASE("each rule speaks for its own waste, with the number that shows it") {
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

TEST_CASE("matrix units: missing, or of the generation before") {
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

TEST_CASE("there is always one") {
  for (const Bound bound : {Bound::memory, Bound::compute, Bound::latency, Bound::launch}) {
    Circumstances at = good();
    at.finding.bound = bound;
    CHECK_FALSE(suggestion(at).empty());
  }
}
