// The physics floor of a case on a device, and what a measured latency says against it.
//
//   double floor_ns = physics_floor_ns(device, cost_bytes, cost_flops);
//   if (beats_physics(device, cost_bytes, floor_ns, median_ns)) ...        // rejected, never clamped
//
// Peak rates come from the device's own attributes (memory clock and bus width, multiprocessors and clock) and the densest arithmetic of its
// generation, so the floor is never too high. Pure functions.
#pragma once

#include <string>

#include "sandbox/job.h"
#include "sandbox/pool/messages.h"

namespace assay::sandbox {

/// Whichever is larger, the least traffic at peak bandwidth or the least work at peak arithmetic; 0 when the device's rates are unknown.
double physics_floor_ns(const LauncherDevice& device, double cost_bytes, double cost_flops);

/// Whether a latency is more than kFloorMargin below the floor. Never for a case whose traffic the L2 cache could absorb.
bool beats_physics(const LauncherDevice& device, double cost_bytes, double floor_ns, double latency_ns);

/// "memory-bound: 91 % of the roofline (302.0 MB in 67.1 us; the floor is 62.9 us)". Empty without a latency and a floor.
std::string diagnosis(const LauncherDevice& device, const CaseRecord& record);

}  // namespace assay::sandbox
