#include "sandbox/launcher/timing.h"

#include <algorithm>
#include <cstdint>

#include "sandbox/launcher/stats.h"

namespace assay::sandbox {
namespace {

constexpr std::int64_t kWarmUpSamples = 3;
constexpr std::int64_t kWarmUpNs = 20'000'000;     // clocks rise from idle within this
constexpr std::uint64_t kFlushPerL2 = 2;           // bytes written to flush, in multiples of the L2's size
constexpr std::uint64_t kMinFlushBytes = 1 << 20;  // where a device does not say how large its L2 is
constexpr std::int64_t kNsPerMs = 1'000'000;

class FlushBuffer {
 public:
  explicit FlushBuffer(GpuDriver& gpu) : gpu_(gpu), bytes_(std::max(kMinFlushBytes, kFlushPerL2 * static_cast<std::uint64_t>(gpu.facts().l2_bytes))) {}
  FlushBuffer(const FlushBuffer&) = delete;
  FlushBuffer& operator=(const FlushBuffer&) = delete;
  ~FlushBuffer() {
    if (memory_ != 0) gpu_.free(memory_);
  }
  LaunchStatus open() {
    LaunchResult<DevicePtr> memory = gpu_.allocate(bytes_);
    if (!memory) return launch_fail(memory.error().kind, "no room to flush the L2 for timing: " + memory.error().message);
    memory_ = *memory;
    return {};
  }
  LaunchStatus flush_async() { return gpu_.fill_async(memory_, bytes_, 1, 0); }

 private:
  GpuDriver& gpu_;
  std::uint64_t bytes_;
  DevicePtr memory_ = 0;
};

/// Opens the gate however the scope is left: a closed one would make every later wait endless.
class Gate {
 public:
  explicit Gate(GpuDriver& gpu) : gpu_(gpu) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() { gpu_.open_gate(); }

 private:
  GpuDriver& gpu_;
};

LaunchResult<double> take_sample(GpuDriver& gpu, const TimedWork& work, FlushBuffer& flush) {
  if (LaunchStatus s = work.restore(); !s) return tl::unexpected(s.error());
  if (LaunchStatus s = gpu.reset_persisting_l2(); !s) return tl::unexpected(s.error());
  if (LaunchStatus s = flush.flush_async(); !s) return tl::unexpected(s.error());
  if (LaunchStatus s = gpu.synchronize(); !s) return tl::unexpected(s.error());
  if (LaunchStatus s = queue_timed(gpu, work.operations, work.enqueue); !s) return tl::unexpected(s.error());
  if (LaunchStatus s = gpu.synchronize(); !s) return tl::unexpected(s.error());
  return gpu.elapsed_ns();
}

}  // namespace

LaunchStatus queue_timed(GpuDriver& gpu, std::size_t operations, const std::function<LaunchStatus()>& enqueue) {
  const Gate gate(gpu);
  if (operations <= kMaxGatedOperations) {
    if (LaunchStatus s = gpu.close_gate(); !s) return s;
  }
  if (LaunchStatus s = gpu.mark_start(); !s) return s;
  if (LaunchStatus s = enqueue(); !s) return s;
  return gpu.mark_stop();
}

LaunchResult<std::vector<double>> take_samples(GpuDriver& gpu, const TimingRules& rules, const TimedWork& work, const Clock& clock) {
  FlushBuffer flush(gpu);
  if (LaunchStatus s = flush.open(); !s) return tl::unexpected(s.error());
  if (LaunchStatus s = work.prepare(); !s) return tl::unexpected(s.error());
  const std::int64_t begin = clock.monotonic_ns();
  const auto elapsed = [&] { return clock.monotonic_ns() - begin; };
  const std::int64_t budget = rules.max_time_ms * kNsPerMs;

  for (std::int64_t i = 0; (i < kWarmUpSamples || elapsed() < kWarmUpNs) && i < rules.max_samples && elapsed() < budget / 4; ++i) {
    if (LaunchResult<double> discarded = take_sample(gpu, work, flush); !discarded) return tl::unexpected(discarded.error());
  }

  std::vector<double> samples;
  std::int64_t next_look = std::max<std::int64_t>(rules.min_samples, static_cast<std::int64_t>(kMinIntervalSamples));
  while (true) {
    LaunchResult<double> sample = take_sample(gpu, work, flush);
    if (!sample) return tl::unexpected(sample.error());
    samples.push_back(*sample);
    const auto taken = static_cast<std::int64_t>(samples.size());
    if (LaunchStatus s = work.sampled(taken - 1); !s) return tl::unexpected(s.error());
    if (taken >= rules.max_samples || elapsed() >= budget) return samples;
    if (taken < next_look) continue;
    if (median_interval(samples).relative_half_width() <= rules.relative_half_width) return samples;
    next_look = taken + std::max<std::int64_t>(8, taken / 8);
  }
}

}  // namespace assay::sandbox
