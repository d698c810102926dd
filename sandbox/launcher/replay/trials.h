// Times parts of a program in extra runs. These runs are not part of the reported samples.
//
// tune() chooses the alternative of each tunable on the device, as an autotuner does. An
// alternative is one configuration of the autotuner. tune() times each alternative at the first
// choice of the tunable, on the inputs that the kernel has there, and chooses the fastest. The
// candidate that recorded the plan has only named the alternatives, and never learns their times.
// If the driver refuses to launch an alternative, tune() skips it, as Triton's autotuner does. A
// fault ends the replay, because the context is then unusable.
//
//   LaunchStatus tuned = tune(gpu, *program, [&] { return initial.restore_async(); }, clock);
//
// inspect() checks whether two runs of a plan give the same bits, and measures the time of each
// operation. It is called after the samples, and restores the inputs before each run. All
// operations that precede an operation in the plan run before it is timed, because its time can
// depend on the contents of its buffers. The caches are cold before these operations.
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

// The number of samples of each alternative. A warm-up run precedes the samples and is not one of
// them. The median of the samples is used.
inline constexpr std::int64_t kTuneSamples = 5;
// The time limit of tune() for all tunables together, in milliseconds. After this limit, tune()
// tries alternatives of a tunable only until one of them works, and skips the others.
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
