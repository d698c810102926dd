// take_samples measures the device time of one sequence of operations with cold caches, until the
// median is known well enough. It also takes a few samples with warm caches, and a few by the
// host's clock.
//
//   LaunchResult<LaunchSamples> samples = take_samples(gpu, TimingRules{}, work, clock);
//
// The steps of one sample:
//  1. Refill the inputs, poison the outputs, scrub shared memory and registers, reset persisting L2
//     lines, flush the L2 by writing twice its size, and wait until the device is idle (ColdState).
//  2. Block the stream. Queue the start mark, the operations and the stop mark. Unblock the stream,
//     so that the device runs them without gaps that the host would cause.
//  3. Subtract the overhead of the marks, which is measured around a kernel of known duration.
//  4. Read the clock of the multiprocessors. Samples at a low clock are discarded.
// A sequence too long for the driver's queue runs on a stream that is not blocked. Samples are
// returned in the order in which they were taken. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/wire/launched.h"

namespace assay::sandbox {

inline constexpr double kLeastNs = 100;  // lower bound of a reported time: no kernel is faster
// The duration of TrustedKernels::touch_async() by the time stamps of the GPU (CUPTI): median on an
// H200 (measurements/ground_truth.py, docs/explanation/timing.md).
inline constexpr double kTouchColdNs = 1'376;
inline constexpr double kTouchWarmNs = 944;

struct TimingRules {
  std::int64_t min_samples = 30;
  std::int64_t max_samples = 2'000;
  // Wall time, including warm-up and refills. Sampling stops at this limit even if fewer than
  // min_samples were taken.
  std::int64_t max_time_ms = 1'000;
  // Sampling stops when half of the 95 % interval of the median is at most this share of the
  // median. A series of blocks narrows the interval further.
  double relative_half_width = 0.01;
  std::int64_t warm_up_ms = 20;   // clocks rise from idle within this time
  std::int64_t side_samples = 3;  // samples with warm caches, and as many by the host's clock
};

/// The callbacks of a measurement. Those with a default may be empty.
struct TimedWork {
  // Called once, before the first sample. It may allocate the device's remaining memory.
  std::function<LaunchStatus()> prepare;
  // Queues the refill of the inputs and the poison of the outputs.
  std::function<LaunchStatus()> restore;
  // Queues the operations, and nothing else.
  std::function<LaunchStatus()> enqueue;
  // Called once, after prepare. Waits for new inputs, and stages them.
  std::function<LaunchStatus()> stage_next_inputs = {};
  // Called after the warm-up if stage_next_inputs is set. Switches to the staged inputs. Returns
  // true if no kernel can have read them.
  std::function<LaunchResult<bool>()> swap_inputs = {};
  // Queues kernels that overwrite shared memory and registers.
  std::function<LaunchStatus()> scrub = {};
  // Queues a kernel of known duration.
  std::function<LaunchStatus()> touch = {};
  // Queues a kernel that reads the clock; clock_mhz returns its result.
  std::function<LaunchStatus()> read_clock = {};
  std::function<LaunchResult<double>()> clock_mhz = {};
  // Called after the sample of this index (from 0) has run, while its outputs are in place.
  std::function<LaunchStatus(std::int64_t)> sampled;
  std::size_t operations = 0;  // number of operations that enqueue() queues
};

/// Puts a device into the same cold state before each sample. The destructor frees the memory that
/// flushes the L2.
class ColdState {
 public:
  explicit ColdState(GpuDriver& gpu);
  ColdState(const ColdState&) = delete;
  ColdState& operator=(const ColdState&) = delete;
  ~ColdState();

  /// Allocates the memory that flushes the L2.
  LaunchStatus open();
  /// Refills the buffers, overwrites on-chip memory and flushes the caches. Waits: the device is
  /// idle afterwards.
  LaunchStatus make(const TimedWork& work);
  /// Flushes the caches only. Waits.
  LaunchStatus flush();

 private:
  GpuDriver& gpu_;
  std::uint64_t bytes_;
  DevicePtr memory_ = 0;
};

/// Queues the operations of `enqueue` between the timer's marks, on a blocked stream if the
/// device's queue has room for all of them. `before` is queued first and not timed.
LaunchStatus queue_timed(GpuDriver& gpu, std::size_t operations,
                         const std::function<LaunchStatus()>& enqueue,
                         const std::function<LaunchStatus()>& before = {});

/// Takes at least one cold sample.
LaunchResult<LaunchSamples> take_samples(GpuDriver& gpu, const TimingRules& rules,
                                         const TimedWork& work, const Clock& clock);

}  // namespace assay::sandbox
