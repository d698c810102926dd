#include "sandbox/profile/occupancy.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

namespace assay::sandbox {
namespace {

constexpr std::array<TargetLimits, 5> kTargets = {{
    {"cuda:80", "NVIDIA A100", 108, 32, 64, 32, 65536, 256, 167936, 1024},
    {"cuda:90", "NVIDIA H200", 132, 32, 64, 32, 65536, 256, 233472, 1024},
    {"cuda:100", "NVIDIA B200", 148, 32, 64, 32, 65536, 256, 233472, 1024},
    {"hip:gfx950", "AMD Instinct MI355X", 256, 64, 32, 32, 131072, 512, 163840, 0},
    {"hip:gfx942", "AMD Instinct MI300X", 304, 64, 32, 32, 131072, 512, 65536, 0},
}};

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

std::optional<TargetLimits> target_limits(std::string_view target) {
  for (const TargetLimits& limits : kTargets) {
    if (limits.target == target) return limits;
  }
  return std::nullopt;
}

Occupancy occupancy(const TargetLimits& limits, std::int64_t threads_per_block,
                    std::int64_t registers_per_thread, std::int64_t shared_bytes) {
  const std::int64_t warps =
      std::max<std::int64_t>(1, (threads_per_block + limits.warp_size - 1) / limits.warp_size);
  const std::int64_t registers_per_warp =
      round_up(std::max<std::int64_t>(1, registers_per_thread) * limits.warp_size,
               limits.register_granularity);
  constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
  const std::int64_t shared = shared_bytes > 0 ? shared_bytes + limits.reserved_shared_bytes : 0;
  // In the order in which a tie is named: what a kernel's author can change comes last.
  const std::array<std::pair<std::string_view, std::int64_t>, 4> bounds = {{
      {"warps", limits.warps_per_sm / warps},
      {"blocks", limits.blocks_per_sm},
      {"registers", limits.registers_per_sm / registers_per_warp / warps},
      {"shared memory", shared > 0 ? limits.shared_bytes_per_sm / shared : kUnlimited},
  }};
  const auto least =
      std::min_element(bounds.begin(), bounds.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  Occupancy result;
  result.blocks_per_sm = least->second;
  result.fraction =
      static_cast<double>(least->second * warps) / static_cast<double>(limits.warps_per_sm);
  result.limiter = least->first;
  return result;
}

}  // namespace assay::sandbox
