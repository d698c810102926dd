#include "sandbox/profile/hints.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "sandbox/profile/occupancy.h"

namespace assay::sandbox {
namespace {

// Below this share of the multiprocessors a launch leaves most of the GPU idle whatever else it
// does.
constexpr double kIdleShare = 0.25;
// Above this much traffic a kernel has work for every multiprocessor, so a small grid is a choice
// and not the problem's size.
constexpr double kWorkForAllBytes = 4 << 20;
constexpr double kLowOccupancy = 0.25;
constexpr std::int64_t kManyLaunches = 16;

std::int64_t programs(const KernelReport& kernel) {
  std::int64_t count = 1;
  for (const std::int64_t extent : kernel.grid) count *= extent;
  return count;
}

std::string percent(double share) { return std::to_string(std::lround(share * 100)) + " %"; }

}  // namespace

void fill_occupancy(KernelReport& kernel) {
  const auto limits = target_limits(kernel.target);
  if (!limits) return;
  const Occupancy found = occupancy(*limits, kernel.num_warps * limits->warp_size, kernel.registers,
                                    kernel.shared_bytes);
  kernel.occupancy = found.fraction;
  kernel.occupancy_limiter = found.limiter;
}

std::vector<Hint> static_hints(const std::vector<KernelReport>& kernels, std::string_view target,
                               const std::string& case_id, double cost_bytes) {
  std::vector<Hint> hints;
  const auto limits = target_limits(target);
  if (!limits) return hints;
  std::int64_t launches = 0;
  std::int64_t widest = 0;
  for (const KernelReport& kernel : kernels) {
    launches += kernel.launches;
    if (!kernel.grid.empty()) widest = std::max(widest, programs(kernel));
  }
  const double share = static_cast<double>(widest) / static_cast<double>(limits->multiprocessors);
  if (widest > 0 && cost_bytes >= kWorkForAllBytes && share < kIdleShare) {
    hints.push_back({HintKind::would_be_slow, case_id,
                     "would be slow: its widest launch has " + std::to_string(widest) +
                         (widest == 1 ? " program" : " programs") + " for " +
                         std::to_string(limits->multiprocessors) + " multiprocessors (" +
                         std::string(limits->device_name) + "), so at most " +
                         percent(std::min(1.0, share)) +
                         " of the GPU works; split the work over more programs"});
  }
  for (const KernelReport& kernel : kernels) {
    if (kernel.spill_bytes > 0) {
      hints.push_back({HintKind::spills, case_id,
                       kernel.name + " spills " + std::to_string(kernel.spill_bytes) +
                           " bytes a thread to local memory; use smaller blocks or more warps"});
    }
    if (kernel.occupancy > 0 && kernel.occupancy < kLowOccupancy &&
        kernel.occupancy_limiter != "warps") {
      hints.push_back({HintKind::low_occupancy, case_id,
                       kernel.name + " reaches " + percent(kernel.occupancy) +
                           " occupancy, limited by " + kernel.occupancy_limiter +
                           "; fine for a matrix kernel that pipelines its loads, otherwise too few "
                           "warps to hide memory latency"});
    }
  }
  if (launches >= kManyLaunches) {
    hints.push_back(
        {HintKind::many_launches, case_id,
         "launches " + std::to_string(launches) + " kernels; each costs microseconds: fuse them"});
  }
  return hints;
}

}  // namespace assay::sandbox
