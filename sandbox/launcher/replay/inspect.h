// inspect: what a plan does besides the time it takes: does it give the same bits twice, and where
// does its time go.
//
//   LaunchResult<Inspection> seen = inspect(gpu, program, work, {{buffer, bytes}}, ours,
//   samples.overhead_ns);
//
// After the samples, on inputs restored before each run. One operation's time is taken with cold
// caches but after everything before it, so that it finds what it would find: its share of the
// whole, not a time by itself. One thread.
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
  std::optional<bool>
      deterministic;  // the same bits twice; nothing: no room on the device to find out
  std::vector<OperationNs> timeline;  // in order; empty for plans that are too long
};

struct OutputBuffer {
  DevicePtr at = 0;
  std::uint64_t bytes = 0;
};

/// `ours` may be null: then the host compares. `overhead_ns`: of the timer's marks.
LaunchResult<Inspection> inspect(GpuDriver& gpu, Program& program, const TimedWork& work,
                                 const std::vector<OutputBuffer>& outputs, TrustedKernels* ours,
                                 double overhead_ns);

}  // namespace assay::sandbox
