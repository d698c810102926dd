// tune: answers a plan's questions on the device, as an autotuner would have: each alternative is
// timed where it is asked for first, on the inputs that it will meet there, and the fastest is
// taken.
//
//   LaunchStatus status = tune(gpu, *program, [&] { return pristine.restore_async(); }, clock);
//
// The candidate that recorded the plan has no part in it: it named the alternatives, and never
// learns the times. An alternative that the driver refuses to launch is passed over, as Triton's
// autotuner does it; a fault ends everything, since the context is lost. One thread.
#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/replay/program.h"

namespace assay::sandbox {

inline constexpr std::int64_t kTuneSamples =
    5;  // of each alternative, after one that warms up; their median counts
inline constexpr std::int64_t kMaxTuneMs =
    10'000;  // over all questions; alternatives not tried by then are left out
inline constexpr double kClearlySlower =
    4.0;  // a warm-up this much slower than the best so far needs no samples

/// `restore` queues what puts every buffer back to its first contents.
LaunchStatus tune(GpuDriver& gpu, Program& program, const std::function<LaunchStatus()>& restore,
                  const Clock& clock);

}  // namespace assay::sandbox
