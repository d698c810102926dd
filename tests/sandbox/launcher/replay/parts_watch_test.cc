#include "sandbox/launcher/replay/parts_watch.h"

#include <atomic>
#include <cstdint>
#include <string>

#include "sandbox/launcher/replay/replay.h"
#include "tests/catch.h"
#include "tests/sandbox/launcher/replay_bench.h"

using namespace assay;
using namespace assay::sandbox;

namespace {

constexpr std::int64_t kHourNs = 3'600'000 * kNsPerMs;

/// Buffers without contents, which say how long they were mapped and hidden.
class TimedBuffers final : public SharedBuffers {
 public:
  std::size_t inputs() const override { return 0; }
  const std::string& name(std::size_t) const override { return name_; }
  std::uint64_t bytes(std::size_t) const override { return 0; }
  bool inout(std::size_t) const override { return false; }
  std::uint64_t output_bytes() const override { return 0; }
  LaunchStatus copy_in(std::size_t, DevicePtr, TrustedKernels*) override { return {}; }
  LaunchStatus copy_out(std::uint64_t, DevicePtr, std::uint64_t, TrustedKernels*) override {
    return {};
  }
  LaunchStatus pretend_copy_out(std::uint64_t, DevicePtr, std::uint64_t, TrustedKernels*) override {
    return {};
  }
  LaunchResult<bool> same(std::size_t, DevicePtr, TrustedKernels*) override { return true; }
  LaunchStatus close() override { return {}; }
  LaunchStatus finish() override { return {}; }
  std::int64_t mapping_ns() const override { return mapped_ns; }

  std::int64_t mapped_ns = 0;

 private:
  const std::string name_;
};

/// The system's clock, which a test can set forward.
class SkippingClock final : public Clock {
 public:
  std::int64_t monotonic_ns() const override { return system_.monotonic_ns() + skipped_ns; }
  std::int64_t unix_ms() const override { return system_.unix_ms(); }

  std::int64_t skipped_ns = 0;

 private:
  SystemClock system_;
};

}  // namespace

TEST_CASE("the time of mapping counts only as the part map, and a skipped time counts nowhere") {
  ManualClock clock;
  TimedBuffers buffers;
  buffers.mapped_ns = 50 * kNsPerMs;  // of an earlier launch
  PartsWatch watch(clock, buffers);
  const auto pass = [&](std::int64_t ms, std::int64_t mapped_ms) {
    clock.advance_ms(ms);
    buffers.mapped_ns += mapped_ms * kNsPerMs;
  };
  pass(7, 2);
  watch.end(LaunchPart::fill);
  pass(100, 30);
  watch.skip();
  pass(3, 0);
  watch.end(LaunchPart::fill);
  pass(4, 4);
  watch.end(LaunchPart::copy);
  CHECK(watch.parts()[LaunchPart::fill] == 8);
  CHECK(watch.parts()[LaunchPart::map] == 6);
  CHECK(watch.parts()[LaunchPart::copy] == 0);
  CHECK(watch.parts().total() == 14);
}

TEST_CASE("a timed launch does not count the time in which the judge makes new inputs") {
  test::Bench bench;
  SkippingClock clock;
  bench.request.timing = TimingRules{.min_samples = 6, .max_samples = 6, .max_time_ms = 2'000};
  bench.request.stage_next_inputs = [&]() -> LaunchStatus {
    clock.skipped_ns += kHourNs;
    return {};
  };
  HostBuffers buffers(bench.gpu, {{"x", test::bytes_of(bench.x)}, {"y", test::bytes_of(bench.y)}},
                      std::as_writable_bytes(std::span(bench.out)));
  const LaunchResult<Launched> launched =
      replay(bench.gpu, test::vector_add_plan(test::kN), buffers, bench.request, clock);
  REQUIRE(launched);
  CHECK(clock.skipped_ns == kHourNs);
  CHECK(launched->parts.total() > 0);
  CHECK(launched->parts.total() < kHourNs / kNsPerMs);
  CHECK(launched->parts[LaunchPart::run] > 0);
}
