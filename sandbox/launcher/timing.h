// take_samples: device times of one sequence of operations, cold cache, until their median is known well enough.
//
//   TimedWork work{.prepare = ..., .restore = ..., .enqueue = ..., .sampled = ..., .operations = 3};
//   LaunchResult<std::vector<double>> samples = take_samples(gpu, TimingRules{}, work, clock);
//
// One sample: inputs refilled and outputs poisoned, persisting L2 reset, L2 flushed by writing twice its size, device idle; then,
// behind a closed gate, start mark, the operations, stop mark; the gate opens and the device runs them without gaps of the host's
// making. Sequences too long for the driver's queue run without a gate. Raw samples are returned in the order taken. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "sandbox/launcher/gpu_driver.h"

namespace assay::sandbox {

inline constexpr std::int64_t kMaxSamplesAllowed = 100'000;  // of a request: they all travel in one frame

struct TimingRules {
  std::int64_t min_samples = 30;
  std::int64_t max_samples = 2'000;
  std::int64_t max_time_ms = 1'000;    // wall time, warm-up and refilling included; it wins over min_samples
  double relative_half_width = 0.005;  // stop when the 95 % interval of the median is within this of it
};

struct TimedWork {
  std::function<LaunchStatus()> prepare;              // once, before the first sample: what may use the memory that is left
  std::function<LaunchStatus()> restore;              // queue: inputs, poison
  std::function<LaunchStatus()> enqueue;              // queue: the operations, and nothing else
  std::function<LaunchStatus(std::int64_t)> sampled;  // the sample of this index, from 0, has run; its outputs are in place
  std::size_t operations = 0;                         // what enqueue() queues
};

/// Queues `enqueue`'s operations between the timer's marks, behind a gate where the device's queue has room for them all.
LaunchStatus queue_timed(GpuDriver& gpu, std::size_t operations, const std::function<LaunchStatus()>& enqueue);

/// At least one sample.
LaunchResult<std::vector<double>> take_samples(GpuDriver& gpu, const TimingRules& rules, const TimedWork& work, const Clock& clock);

}  // namespace assay::sandbox
