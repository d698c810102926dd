// Tests the memory of a plan that is replayed under a sanitizer.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sandbox/launcher/memory/buffer_memory.h"
#include "sandbox/launcher/replay/replay.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/plan_samples.h"
#include "tests/sandbox/launcher/replay_bench.h"

using namespace assay;
using namespace assay::sandbox;
using test::Bench;
using test::kN;

namespace {

constexpr std::uint64_t kBufferBytes = kN * sizeof(float);

/// Facts about the kernel's memory, as the kernel sees them. The kernel's parameters 0 and 1 are
/// the inputs, and its parameter 2 is the output.
struct Seen {
  bool behind = false, before = false;  // true: the byte behind or before the output is readable
  std::byte output{};                   // the output's first byte before the kernel wrote it
  bool summed = false;                  // true: the inputs had their values
};

Seen watched_by(std::optional<SanitizerTool> tool) {
  Bench bench;
  Seen seen;
  bench.gpu.add_kernel("look_around", {8, 8, 8, 4}, [&](FakeLaunch& launch) -> LaunchStatus {
    seen.behind = launch.memory(2, kBufferBytes, 1) != nullptr;
    seen.before = launch.memory(2, -1, 1) != nullptr;
    seen.output = *launch.memory(2, 0, 1);
    const auto* x = reinterpret_cast<const float*>(launch.memory(0, 0, kBufferBytes));
    const auto* y = reinterpret_cast<const float*>(launch.memory(1, 0, kBufferBytes));
    seen.summed = x[1] == bench.x[1] && y[kN - 1] == bench.y[kN - 1];
    return {};
  });
  bench.request.sanitizer = tool;
  const auto result = bench.run(test::vector_add_plan(kN, "look_around"));
  REQUIRE(result);
  // The outputs of a run under a sanitizer are not used.
  CHECK(result->outputs.empty() == tool.has_value());
  CHECK(result->kernels.size() == 1);
  bench.check_clean();
  return seen;
}

}  // namespace

TEST_CASE("under memcheck nothing may be read beside a buffer") {
  const Seen seen = watched_by(SanitizerTool::memcheck);
  CHECK_FALSE(seen.behind);
  CHECK_FALSE(seen.before);
  CHECK(seen.summed);
}

TEST_CASE("under initcheck an output is memory that nothing wrote, and inputs have their values") {
  const Seen seen = watched_by(SanitizerTool::initcheck);
  CHECK(seen.output != std::byte{kPoison & 0xFF});
  CHECK(seen.summed);
}

TEST_CASE("under the other tools, and without one, guards and poison stay") {
  for (const auto tool : {std::optional<SanitizerTool>(), std::optional(SanitizerTool::racecheck),
                          std::optional(SanitizerTool::synccheck)}) {
    const Seen seen = watched_by(tool);
    CHECK(seen.behind);
    CHECK(seen.before);
    CHECK(seen.output == std::byte{kPoison & 0xFF});
    CHECK(seen.summed);
  }
}
