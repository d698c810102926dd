#include "metrics/efficiency.h"

#include <algorithm>

namespace assay::metrics {
namespace {

constexpr double kNsPerSecond = 1e9;

}  // namespace

std::optional<double> gpu_efficiency(const Work& work, const Peaks& peaks, double latency_ns) {
  if (!(latency_ns > 0) || !(peaks.bytes_per_s > 0) || !(peaks.flops_per_s > 0))
    return std::nullopt;
  const double seconds = latency_ns / kNsPerSecond;
  return std::max(work.bytes / seconds / peaks.bytes_per_s,
                  work.flops / seconds / peaks.flops_per_s);
}

std::optional<double> efficiency_of_floor(double floor_ns, double latency_ns) {
  if (!(latency_ns > 0) || !(floor_ns >= 0)) return std::nullopt;
  return floor_ns / latency_ns;
}

}  // namespace assay::metrics
