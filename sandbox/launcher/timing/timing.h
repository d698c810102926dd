// take_samples: device times of one sequence of operations, cold cache, until their median is known
// well enough; beside them a few warm ones and a few by the host's clock.
//
//   TimedWork work{.prepare = ..., .restore = ..., .enqueue = ..., .sampled = ..., .operations =
//   3}; LaunchResult<Samples> samples = take_samples(gpu, TimingRules{}, work, clock);
//
// One sample: inputs refilled and outputs poisoned, shared memory and registers scrubbed,
// persisting L2 reset, L2 flushed by writing twice its size, device idle; then, behind a closed
// gate, start mark, the operations, stop mark; the gate opens and the device runs them without gaps
// of the host's making. What the marks and the way to a kernel take, measured around a kernel of
// known duration, is subtracted. Right after that the multiprocessors' clock is read: samples taken
// while it was low are discarded. Sequences too long for the driver's queue run without a gate. Raw
// samples are returned in the order taken. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "sandbox/launcher/driver/gpu_driver.h"

namespace assay::sandbox {

inline constexpr double kLeastNs = 100;  // no kernel is done sooner
// What CUPTI, by the GPU's own time stamps, says that TrustedKernels::touch_async() takes, median
// on an H200 (measurements/ground_truth.py, docs/explanation/timing.md).
inline constexpr double kTouchColdNs = 1'376;
inline constexpr double kTouchWarmNs = 944;
inline constexpr std::int64_t kMaxSamplesAllowed =
    100'000;  // of a request: they all travel in one frame

struct TimingRules {
  std::int64_t min_samples = 30;
  std::int64_t max_samples = 2'000;
  std::int64_t max_time_ms =
      1'000;  // wall time, warm-up and refilling included; it wins over min_samples
  double relative_half_width = 0.01;  // stop when the 95 % interval of the median is within this of
                                      // it; a series of blocks comes to know it better
  std::int64_t warm_up_ms = 20;       // clocks rise from idle within this
  std::int64_t side_samples = 3;      // warm ones, and as many by the host's clock
};

struct Samples {
  std::vector<double> cold_ns;  // without the discarded ones
  std::vector<double>
      warm_ns;  // after a run that is not counted and refilled inputs: caches hold what they hold
  std::vector<double> wall_ns;  // cold, from before queueing to after the wait, by the host's clock
                                // and without a gate: what a caller waits
  double overhead_ns = 0;  // of the marks and the way to the kernel; taken off the cold ones, and
                           // what it is with warm caches off the warm ones
  double clock_mhz = 0;    // median while the cold ones ran; 0: not read
  std::int64_t discarded = 0;          // cold samples at a clock clearly under the median
  std::optional<double> first_run_ns;  // the first cold one, where nothing had run on its inputs
                                       // before and its clock was not low
};

struct TimedWork {
  std::function<LaunchStatus()>
      prepare;  // once, before the first sample: what may use the memory that is left
  std::function<LaunchStatus()> restore;  // queue: inputs, poison
  std::function<LaunchStatus()> enqueue;  // queue: the operations, and nothing else
  std::function<LaunchStatus()> stage_next_inputs =
      {};  // once, after prepare: waits until other inputs are to be had; may be empty
  std::function<LaunchResult<bool>()> swap_inputs =
      {};  // with stage_next_inputs, after warm-up: they are the inputs from now on. Whether
           // nothing has run on them
  std::function<LaunchStatus()> scrub =
      {};  // queue: what wipes memory that buffers do not show; may be empty
  std::function<LaunchStatus()> touch = {};       // queue: a kernel of known duration; may be empty
  std::function<LaunchStatus()> read_clock = {};  // queue: what reads the clock; may be empty
  std::function<LaunchResult<double>()> clock_mhz = {};
  std::function<LaunchStatus(std::int64_t)>
      sampled;  // the sample of this index, from 0, has run; its outputs are in place
  std::size_t operations = 0;  // what enqueue() queues
};

/// Queues `enqueue`'s operations between the timer's marks, behind a gate where the device's queue
/// has room for them all. `before`: queued first, and not timed.
LaunchStatus queue_timed(GpuDriver& gpu, std::size_t operations,
                         const std::function<LaunchStatus()>& enqueue,
                         const std::function<LaunchStatus()>& before = {});

/// At least one cold sample.
LaunchResult<Samples> take_samples(GpuDriver& gpu, const TimingRules& rules, const TimedWork& work,
                                   const Clock& clock);

}  // namespace assay::sandbox
