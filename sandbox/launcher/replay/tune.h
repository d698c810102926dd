// tune answers a plan's questions on the device, as an autotuner does. It times each alternative at
// the question's first choice, on the inputs that the kernel gets there, and takes the fastest.
//
//   LaunchStatus status = tune(gpu, *program, [&] { return initial.restore_async(); }, clock);
//
// The candidate that recorded the plan only named the alternatives; it never learns the times. An
// alternative that the driver refuses to launch is skipped, as in Triton's autotuner. A fault ends
// the replay, because the context is lost. One thread.
#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/replay/program.h"

namespace assay::sandbox {

// of each alternative, after one that warms up; their median counts
inline constexpr std::int64_t kTuneSamples = 5;
// over all questions; alternatives not tried by then are left out
inline constexpr std::int64_t kMaxTuneMs = 10'000;
// a warm-up this much slower than the best so far needs no samples
inline constexpr double kClearlySlower = 4.0;

/// `restore` queues the copies that restore the first contents of every buffer.
LaunchStatus tune(GpuDriver& gpu, Program& program, const std::function<LaunchStatus()>& restore,
                  const Clock& clock);

}  // namespace assay::sandbox
