#include "sandbox/profile/static_figures.h"

#include <cstdint>

#include "tests/catch.h"

using namespace assay::sandbox;

namespace {

KernelReport kernel_with_grid(std::int64_t programs, std::int64_t registers = 32) {
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

/// Returns the text of the first hint of this kind, or an empty text if there is no such hint.
std::string text_of(const std::vector<Hint>& hints, HintKind kind) {
  for (const Hint& hint : hints) {
    if (hint.kind == kind) return hint.text;
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("one program for a large case would be slow, and the numbers say why") {
  const auto hints = static_hints({kernel_with_grid(1)}, "cuda:90", "large", 200e6);
  REQUIRE(hints.size() == 1);
  CHECK(hints[0].case_id == "large");
  CHECK(has(text_of(hints, HintKind::would_be_slow), "1 program for 132 multiprocessors"));
}

TEST_CASE("a grid that fills the GPU, and a case too small to fill it, give no hint") {
  CHECK(static_hints({kernel_with_grid(4096)}, "cuda:90", "large", 200e6).empty());
  CHECK(static_hints({kernel_with_grid(1)}, "cuda:90", "large", 1000).empty());
}

TEST_CASE("a small helper kernel beside a wide one is not slow") {
  const auto hints =
      static_hints({kernel_with_grid(1), kernel_with_grid(2048)}, "cuda:90", "large", 200e6);
  CHECK(text_of(hints, HintKind::would_be_slow).empty());
}

TEST_CASE("spills, low occupancy and many launches are named with their numbers") {
  KernelReport heavy = kernel_with_grid(4096, 255);
  heavy.spill_bytes = 96;
  heavy.launches = 40;
  const auto hints = static_hints({heavy}, "cuda:90", "large", 200e6);
  CHECK(has(text_of(hints, HintKind::spills), "spills 96 bytes"));
  CHECK(has(text_of(hints, HintKind::low_occupancy), "limited by registers"));
  CHECK(has(text_of(hints, HintKind::many_launches), "launches 40 kernels"));
}

TEST_CASE("a hint shortens a long name, so that it still says what to do") {
  KernelReport heavy = kernel_with_grid(4096, 32);
  heavy.spill_bytes = 96;
  heavy.name = std::string(8'000, 'k');
  const auto hints = static_hints({heavy}, "cuda:90", "large", 200e6);
  CHECK(text_of(hints, HintKind::spills).size() < 250);
  CHECK(has(text_of(hints, HintKind::spills), "use smaller blocks"));
}

TEST_CASE("an unknown target gives no hint") {
  CHECK(static_hints({kernel_with_grid(1)}, "cuda:1", "large", 200e6).empty());
}
