#include "sandbox/device/diagnosis.h"

#include <cstdio>

namespace assay::sandbox {
namespace {

constexpr double kLatencyBoundNs = 10'000;  // below it, launch and memory latency are most of what is measured
constexpr double kNearRoofline = 0.4;

const char* bound_class(const LauncherDevice& device, const CaseRecord& record, double share) {
  if (record.latency->median_ns < kLatencyBoundNs || share < kNearRoofline) return "latency-bound";
  const double memory_ns = device.bandwidth_bytes_per_s > 0 ? record.cost_bytes / device.bandwidth_bytes_per_s * 1e9 : 0;
  return memory_ns >= *record.floor_ns * 0.999 ? "memory-bound" : "compute-bound";
}

}  // namespace

std::string diagnosis(const LauncherDevice& device, const CaseRecord& record) {
  if (!record.latency || !record.floor_ns || record.latency->median_ns <= 0) return {};
  const double latency = record.latency->median_ns;
  const double share = *record.floor_ns / latency;
  char text[320];
  std::snprintf(text, sizeof text, "%s: %.0f %% of the roofline (least traffic %.3g MB, least work %.3g GFLOP, floor %.2f us, measured %.2f us: %.0f GB/s, %.1f TFLOP/s)",
                bound_class(device, record, share), share * 100, record.cost_bytes / 1e6, record.cost_flops / 1e9, *record.floor_ns / 1e3, latency / 1e3,
                record.cost_bytes / latency, record.cost_flops / latency / 1e3);
  return text;
}

}  // namespace assay::sandbox
