// inspect finds out whether a plan gives the same bits twice, and how its time divides over its
// operations.
//
//   LaunchResult<Inspection> seen =
//       inspect(gpu, program, work, {{buffer, bytes}}, ours, samples.overhead_ns);
//
// It runs after the samples and restores the inputs before each run. An operation is timed with
// cold caches but after all operations before it, so that it finds the memory as they leave it. The
// result is its share of the whole, not its time alone. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/memory/trusted_kernels.h"
#include "sandbox/launcher/replay/program.h"
#include "sandbox/launcher/timing/timing.h"

namespace assay::sandbox {

inline constexpr std::size_t kMaxInspected = 32;  // operations: plans with more have no timeline

struct OperationNs {
  Program::Operation operation;
  double ns = 0;
};

struct Inspection {
  // the same bits twice; nothing: no room on the device to find out
  std::optional<bool> deterministic;
  std::vector<OperationNs> timeline;  // in order; empty for plans that are too long
};

struct OutputBuffer {
  DevicePtr at = 0;
  std::uint64_t bytes = 0;
};

/// If `ours` is null, the host compares. `overhead_ns` is the overhead of the timer's marks.
LaunchResult<Inspection> inspect(GpuDriver& gpu, Program& program, const TimedWork& work,
                                 const std::vector<OutputBuffer>& outputs, TrustedKernels* ours,
                                 double overhead_ns);

}  // namespace assay::sandbox
