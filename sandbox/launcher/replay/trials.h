// Times parts of a program in extra runs. These runs are not part of the reported samples.
//
// tune() chooses the alternative of each tunable on the device, as an autotuner does. An
// alternative is one configuration of the autotuner. tune() times each alternative at the place
// where the plan first uses the tunable, on the data that the buffers contain there, and chooses
// the fastest alternative. The candidate that recorded the plan has only named the alternatives,
// and never learns their times. If the driver refuses to launch an alternative, tune() skips it, as
// Triton's autotuner does. A fault ends the replay, because the context is then unusable.
//
//   LaunchStatus tuned = tune(gpu, *program, [&] { return initial.restore_async(); }, clock);
//
// inspect() checks whether two runs of a plan give the same bits, and measures the time of each
// operation. It is called after the samples, and restores the inputs before each run. Before
// inspect() times an operation, it makes the caches cold and runs all operations that precede this
// operation in the plan, because the time can depend on the contents of the operation's buffers.
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

// The number of samples of each alternative. A warm-up run precedes the samples and does not count.
// tune() compares the medians of the samples.
inline constexpr std::int64_t kTuneSamples = 5;
// The time limit of tune() for all tunables together, in milliseconds. After this limit, as soon as
// one alternative of a tunable has worked, tune() tries no more alternatives of this tunable. It
// uses the fastest alternative that it has tried.
inline constexpr std::int64_t kMaxTuneMs = 10'000;
// If the warm-up of an alternative takes more than this multiple of the best time so far, the
// alternative gets no samples.
inline constexpr double kClearlySlower = 4.0;

/// Chooses the fastest alternative of each tunable. `restore` queues the copies that restore the
/// first contents of every buffer.
LaunchStatus tune(GpuDriver& gpu, Program& program, const std::function<LaunchStatus()>& restore,
                  const Clock& clock);

// The maximum number of operations in a timeline. A plan with more operations gets an empty
// timeline.
inline constexpr std::size_t kMaxInspected = 32;

struct OutputBuffer {
  DevicePtr at = 0;
  std::uint64_t bytes = 0;
};

struct InspectionRules {
  std::vector<OutputBuffer> outputs;  // the buffers that are compared between two runs
  TrustedKernels* trusted = nullptr;  // compares on the device; if null, the host compares
  // The overhead of the timer's marks, which is subtracted from each operation's time.
  double overhead_ns = 0;
};

LaunchResult<Inspection> inspect(GpuDriver& gpu, Program& program, const TimedWork& work,
                                 const InspectionRules& rules);

}  // namespace assay::sandbox
