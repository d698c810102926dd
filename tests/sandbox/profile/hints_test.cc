#include "sandbox/profile/hints.h"

#include <cstdint>

#include "tests/catch.h"

using namespace assay::sandbox;

namespace {

KernelReport kernel(std::int64_t programs, std::int64_t registers = 32) {
  KernelReport report;
  report.name = "k";
  report.target = "cuda:90";
  report.num_warps = 4;
  report.registers = registers;
  report.grid = {programs, 1, 1};
  report.launches = 1;
  fill_occupancy(report);
  return report;
}

bool any_contains(const std::vector<std::string>& hints, const std::string& words) {
  for (const std::string& hint : hints) {
    if (hint.find(words) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("one program for a large case would be slow, and the numbers say why") {
  const auto hints = static_hints({kernel(1)}, "cuda:90", 200e6);
  REQUIRE(any_contains(hints, "would be slow"));
  CHECK(any_contains(hints, "1 program for 132 multiprocessors"));
}

TEST_CASE("a grid that fills the GPU, or a case too small to, is no reproach") {
  CHECK(static_hints({kernel(4096)}, "cuda:90", 200e6).empty());
  CHECK_FALSE(any_contains(static_hints({kernel(1)}, "cuda:90", 1000), "would be slow"));
}

TEST_CASE("a small helper kernel beside a wide one is not slow") {
  CHECK_FALSE(
      any_contains(static_hints({kernel(1), kernel(2048)}, "cuda:90", 200e6), "would be slow"));
}

TEST_CASE("spills, low occupancy and many launches are named with their numbers") {
  KernelReport heavy = kernel(4096, 255);
  heavy.spill_bytes = 96;
  heavy.launches = 40;
  const auto hints = static_hints({heavy}, "cuda:90", 200e6);
  CHECK(any_contains(hints, "spills 96 bytes"));
  CHECK(any_contains(hints, "limited by registers"));
  CHECK(any_contains(hints, "launches 40 kernels"));
}

TEST_CASE("an unknown target says nothing") {
  CHECK(static_hints({kernel(1)}, "cuda:1", 200e6).empty());
}
