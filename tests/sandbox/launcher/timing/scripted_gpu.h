// ScriptedGpu is a fake GPU for tests of take_samples(), which say how long each run takes.
//
//   ScriptedGpu gpu([] { return 1000.0; });  // nanoseconds
//   const TickingClock clock(1'000'000);     // each reading is 1 ms later
//   take_samples(gpu, rules, work_on(gpu), clock);
//   CHECK(gpu.log.find("RPFS(<K>)S") != std::string::npos);
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "sandbox/launcher/timing/timing.h"
#include "tests/catch.h"

namespace assay::sandbox::testing {

/// A fake GPU that logs its calls, one letter for each call. Each timed sequence takes the time
/// that next_ns() returns.
class ScriptedGpu final : public GpuDriver {
 public:
  explicit ScriptedGpu(std::function<double()> next_ns) : next_ns_(std::move(next_ns)) {
    facts_.l2_bytes = 4 << 20;
  }
  std::string log;
  std::uint64_t flushed = 0;
  int allocated = 0;
  bool blocked = false;

  const DeviceFacts& facts() const override { return facts_; }
  LaunchResult<DevicePtr> allocate(std::uint64_t) override {
    return static_cast<DevicePtr>(4096 * ++allocated);
  }
  LaunchResult<DevicePtr> map_shared(int, std::uint64_t) override {
    return launch_fail(LaunchErrorKind::internal_error, "not scripted");
  }
  LaunchStatus unmap_shared(DevicePtr) override { return {}; }
  LaunchStatus hide_shared(DevicePtr) override { return {}; }
  LaunchStatus show_shared(DevicePtr) override { return {}; }
  void free(DevicePtr) override { --allocated; }
  LaunchStatus write(DevicePtr, std::span<const std::byte>) override { return {}; }
  LaunchStatus read(std::span<std::byte>, DevicePtr) override { return {}; }
  LaunchStatus copy_async(DevicePtr, DevicePtr, std::uint64_t) override { return {}; }
  LaunchStatus fill_async(DevicePtr, std::uint64_t count, std::uint32_t width,
                          std::uint64_t) override {
    flushed = count * width;
    return note('F');
  }
  LaunchResult<KernelHandle> load(std::string_view, const std::string&, std::uint32_t) override {
    return 0u;
  }
  void unload(KernelHandle) override {}
  LaunchStatus reload(KernelHandle, std::string_view, const std::string&, std::uint32_t) override {
    return {};
  }
  const KernelFacts& kernel_facts(KernelHandle) const override { return kernel_; }
  LaunchStatus launch_async(KernelHandle, const LaunchShape&,
                            std::span<const ParamValue>) override {
    return {};
  }
  LaunchResult<TensorMap> encode_tensor_map(const TensorMapSpec&) override { return TensorMap{}; }
  LaunchStatus synchronize() override {
    REQUIRE_FALSE(blocked);  // a real device would wait forever
    return note('S');
  }
  LaunchStatus block_stream() override {
    blocked = true;
    return note('(');
  }
  void unblock_stream() override {
    blocked = false;
    log += ')';
  }
  LaunchStatus mark_start() override { return note('<'); }
  LaunchStatus mark_stop() override { return note('>'); }
  LaunchResult<double> elapsed_ns() override { return next_ns_(); }
  LaunchStatus reset_persisting_l2() override { return note('P'); }
  LaunchStatus note(char step) {
    log += step;
    return {};
  }

 private:
  std::function<double()> next_ns_;
  DeviceFacts facts_;
  KernelFacts kernel_;
};

inline TimedWork work_on(ScriptedGpu& gpu, std::size_t operations = 2) {
  TimedWork work;
  work.prepare = [&] { return gpu.note('!'); };
  work.restore = [&] { return gpu.note('R'); };
  work.enqueue = [&] { return gpu.note('K'); };
  work.sampled = [&](SampleKind kind, std::int64_t, bool) {
    (void)gpu.note(kind == SampleKind::fresh ? ':' : ';');
    return LaunchResult<bool>(false);
  };
  work.operations = operations;
  return work;
}

/// A clock that advances by `tick_ns` with each reading, so that the warm-up ends.
class TickingClock final : public Clock {
 public:
  explicit TickingClock(std::int64_t tick_ns) : tick_ns_(tick_ns) {}
  std::int64_t monotonic_ns() const override { return now_ns_ += tick_ns_; }
  std::int64_t unix_ms() const override { return 0; }

 private:
  std::int64_t tick_ns_;
  mutable std::int64_t now_ns_ = 0;
};

}  // namespace assay::sandbox::testing
