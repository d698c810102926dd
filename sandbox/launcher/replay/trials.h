// Trials of a program: runs of its parts under the timer, outside of the samples that are reported.
//
// tune() chooses the alternative of each tunable on the device, as an autotuner does. It times each
// alternative at the first choice of the tunable, on the inputs that the kernel gets there, and
// takes the fastest. The candidate that recorded the plan only named the alternatives, and never
// learns the times. An alternative that the driver refuses to launch is skipped, as in Triton's
// autotuner. A fault ends the replay, because the context is lost.
//
//   LaunchStatus tuned = tune(gpu, *program, [&] { return initial.restore_async(); }, clock);
//
// inspect() checks whether a plan gives the same bits twice, and how its time divides over its
// operations. It runs after the samples, and restores the inputs before each run. An operation is
// timed with cold caches but after all operations before it, so it finds the memory as they leave
// it. The result is its share of the whole, not the time that it would take alone.
//
//   LaunchResult<Inspection> seen = inspect(gpu, *program, work, {outputs, trusted, overhead_ns});
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/memory/trusted_kernels.h"
#include "sandbox/launcher/replay/program.h"
#include "sandbox/launcher/timing/timing.h"
#include "sandbox/wire/launched.h"

namespace assay::sandbox {

// Samples of each alternative, after one that warms up. Their median counts.
inline constexpr std::int64_t kTuneSamples = 5;
// Limit over all tunables. Alternatives that were not timed by then are left out.
inline constexpr std::int64_t kMaxTuneMs = 10'000;
// An alternative whose warm-up is this many times slower than the best so far gets no samples.
inline constexpr double kClearlySlower = 4.0;

/// `restore` queues the copies that restore the first contents of every buffer.
LaunchStatus tune(GpuDriver& gpu, Program& program, const std::function<LaunchStatus()>& restore,
                  const Clock& clock);

// A plan with more operations gets an empty timeline.
inline constexpr std::size_t kMaxInspected = 32;

struct OutputBuffer {
  DevicePtr at = 0;
  std::uint64_t bytes = 0;
};

struct InspectionRules {
  std::vector<OutputBuffer> outputs;  // compared between two runs
  TrustedKernels* trusted = nullptr;  // compare on the device; if null, the host compares
  double overhead_ns = 0;             // of the timer's marks; subtracted from each operation
};

LaunchResult<Inspection> inspect(GpuDriver& gpu, Program& program, const TimedWork& work,
                                 const InspectionRules& rules);

}  // namespace assay::sandbox
