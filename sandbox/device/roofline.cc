#include "sandbox/device/roofline.h"

#include <algorithm>
#include <cstdio>

namespace assay::sandbox {
namespace {

constexpr double kFloorMargin = 1.05;
// Dense fp8 tensor-core operations per clock and multiprocessor of Hopper, the densest arithmetic that a submission could reach (NVIDIA's H100
// datasheet: 1,979 TFLOP/s fp8 dense at 132 multiprocessors and 1.83 GHz).
constexpr double kFlopsPerClockAndSm = 8192;
// The L2 cache may hold outputs that never reach memory before the clock stops.
constexpr double kL2Multiples = 4;
constexpr double kLatencyBoundNs = 10'000;
constexpr double kNearRoofline = 0.4;

double memory_ns(const LauncherDevice& device, double bytes) { return device.bandwidth_bytes_per_s > 0 ? bytes / device.bandwidth_bytes_per_s * 1e9 : 0; }

double arithmetic_ns(const LauncherDevice& device, double flops) {
  const double per_second = kFlopsPerClockAndSm * static_cast<double>(device.sms) * static_cast<double>(device.clock_khz) * 1e3;
  return per_second > 0 ? flops / per_second * 1e9 : 0;
}

}  // namespace

double physics_floor_ns(const LauncherDevice& device, double cost_bytes, double cost_flops) {
  return std::max(memory_ns(device, cost_bytes), arithmetic_ns(device, cost_flops));
}

bool beats_physics(const LauncherDevice& device, double cost_bytes, double floor_ns, double latency_ns) {
  const bool beyond_cache = cost_bytes >= kL2Multiples * static_cast<double>(device.l2_bytes);
  const bool arithmetic = floor_ns > memory_ns(device, cost_bytes);
  return floor_ns > 0 && (beyond_cache || arithmetic) && latency_ns * kFloorMargin < floor_ns;
}

std::string diagnosis(const LauncherDevice& device, const CaseRecord& record) {
  if (!record.latency || !record.floor_ns || record.latency->median_ns <= 0) return {};
  const double latency = record.latency->median_ns;
  const double share = *record.floor_ns / latency;
  const bool memory = memory_ns(device, record.cost_bytes) >= arithmetic_ns(device, record.cost_flops);
  const char* bound = "latency-bound";
  if (latency >= kLatencyBoundNs && share >= kNearRoofline) bound = memory ? "memory-bound" : "compute-bound";
  char text[320];
  std::snprintf(text, sizeof text, "%s: %.0f %% of the roofline (least traffic %.3g MB, least work %.3g GFLOP, floor %.2f us, measured %.2f us: %.0f GB/s, %.1f TFLOP/s)", bound, share * 100,
                record.cost_bytes / 1e6, record.cost_flops / 1e9, *record.floor_ns / 1e3, latency / 1e3, record.cost_bytes / latency, record.cost_flops / latency / 1e3);
  return text;
}

}  // namespace assay::sandbox
