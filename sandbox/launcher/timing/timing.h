// take_samples() measures the device time of one sequence of operations with cold caches, until the
// median is known accurately enough. It also takes a few samples with warm caches, a few samples by
// the host's clock, and a few fresh samples.
//
//   LaunchResult<LaunchSamples> samples = take_samples(gpu, TimingRules{}, work, clock);
//
// The steps of one sample:
//  1. Refill the inputs, poison all other buffers, scrub shared memory and registers, reset
//     persisting L2 lines, flush the L2 by writing twice its size, and wait until the device is
//     idle (ColdState).
//  2. Block the stream. Queue the start mark, the operations and the stop mark. Unblock the stream.
//     So the host causes no gaps between the operations.
//  3. Subtract the overhead of the marks, which is measured around a kernel of known duration.
//  4. Read the clock of the multiprocessors. Samples at a low clock are discarded.
// A fresh sample is like these samples, but right before it the launcher's own kernels are loaded
// again. So code of the submission that overwrote these kernels cannot affect a fresh sample.
// A sequence too long for the driver's queue runs on a stream that is not blocked. Samples are
// returned in the order in which they were taken. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/wire/launched.h"

namespace assay::sandbox {

// The lower bound of a reported time, in nanoseconds. No kernel takes less time.
inline constexpr double kLeastNs = 100;
// The duration of TrustedKernels::touch_async() according to the GPU's own time stamps (CUPTI). It
// is the median on an H200 (measurements/ground_truth.py, docs/explanation/timing.md).
inline constexpr double kTouchColdNs = 1'376;
inline constexpr double kTouchWarmNs = 944;

struct TimingRules {
  std::int64_t min_samples = 30;
  std::int64_t max_samples = 2'000;
  // The limit of the wall-clock time in milliseconds, including warm-up and refills. Sampling stops
  // at this limit even if fewer than min_samples samples have been taken.
  std::int64_t max_time_ms = 1'000;
  // The required precision. Sampling stops when half of the width of the median's 95 % interval is
  // at most this share of the median. The caller can narrow the interval further by combining
  // several blocks of samples.
  double relative_half_width = 0.01;
  std::int64_t warm_up_ms = 20;  // clocks rise from idle within this time
  // The number of samples with warm caches. The number of samples by the host's clock is the same.
  std::int64_t side_samples = 3;
  std::int64_t fresh_samples = 3;
  // Whether the other samples are fresh too, except those with warm caches.
  bool all_fresh = false;
};

enum class SampleKind { cold, fresh };

/// The functions that a measurement calls. A function with a default value may be empty.
struct TimedWork {
  // This function is called once, before the first sample. It may allocate the remaining device
  // memory, because the memory that flushes the L2 cache is already allocated.
  std::function<LaunchStatus()> prepare;
  // Queues operations that restore the inputs from a copy, and that poison all other buffers.
  std::function<LaunchStatus()> restore;
  // Queues the operations to measure, and nothing else.
  std::function<LaunchStatus()> enqueue;
  // This function is called once, after `prepare`. It waits for new inputs and stages them.
  std::function<LaunchStatus()> stage_next_inputs = {};
  // This function is called after the warm-up if stage_next_inputs is set. It switches to the
  // staged inputs. It returns true if no kernel can have read the staged inputs before.
  std::function<LaunchResult<bool>()> swap_inputs = {};
  // Queues kernels that overwrite shared memory and registers.
  std::function<LaunchStatus()> scrub = {};
  // Queues a kernel that writes `bytes` zeros. If the function is empty, the driver writes them.
  std::function<LaunchStatus(DevicePtr to, std::uint64_t bytes)> clear = {};
  // Loads the kernels of all these functions again. If the function is empty, no fresh samples are
  // taken.
  std::function<LaunchStatus()> refresh = {};
  // Queues a kernel of known duration.
  std::function<LaunchStatus()> touch = {};
  // Queues a kernel that reads the clock. clock_mhz returns the result.
  std::function<LaunchStatus()> read_clock = {};
  std::function<LaunchResult<double>()> clock_mhz = {};
  // This function is called after each cold sample and each fresh sample, with the sample's index
  // (from 0, for each kind) and whether it is the last one of its kind, while the sample's outputs
  // are still in the buffers. It returns true if it has paused to copy. The next run is then
  // discarded, because it would be slower.
  std::function<LaunchResult<bool>(SampleKind, std::int64_t, bool is_last)> sampled = {};
  std::size_t operations = 0;  // maximum number of operations that enqueue() queues
};

/// Puts the device into the same cold state before each sample. The destructor frees the memory
/// that flushes the L2 cache.
class ColdState {
 public:
  explicit ColdState(GpuDriver& gpu);
  ColdState(const ColdState&) = delete;
  ColdState& operator=(const ColdState&) = delete;
  ~ColdState();

  /// Allocates the memory that flushes the L2 cache.
  LaunchStatus open();
  /// Refills the buffers, overwrites on-chip memory and flushes the caches. Waits until the device
  /// is idle.
  LaunchStatus make(const TimedWork& work);
  /// Flushes only the caches. Waits until the device is idle.
  LaunchStatus flush(const TimedWork& work);

 private:
  GpuDriver& gpu_;
  std::uint64_t bytes_;
  DevicePtr memory_ = 0;
};

/// Queues the operations of `enqueue` between the timer's marks. If the device's queue has space
/// for all operations, the stream is blocked while they are queued. `before` is queued first and is
/// not timed.
LaunchStatus queue_timed(GpuDriver& gpu, std::size_t operations,
                         const std::function<LaunchStatus()>& enqueue,
                         const std::function<LaunchStatus()>& before = {});

/// Takes samples, among them at least one cold sample.
LaunchResult<LaunchSamples> take_samples(GpuDriver& gpu, const TimingRules& rules,
                                         const TimedWork& work, const Clock& clock);

}  // namespace assay::sandbox
