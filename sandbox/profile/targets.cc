#include "sandbox/profile/targets.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "sandbox/job/target.h"

namespace assay::sandbox {
namespace {

constexpr double kTera = 1e12;

/// Returns true if the table has a row for each target.
template <class Table>
constexpr bool has_each_target(const Table& table) {
  return std::all_of(kTargets.begin(), kTargets.end(), [&](std::string_view target) {
    return std::any_of(table.begin(), table.end(),
                       [&](const auto& row) { return row.target == target; });
  });
}

constexpr std::array<Peaks, kTargets.size()> kPeaks = {{
    {"cuda:80", "NVIDIA A100", 2.039 * kTera, 9.7 * kTera, 19.5 * kTera, 19.5 * kTera, 156 * kTera,
     312 * kTera, 0, 624 * kTera, "NVIDIA A100 80GB SXM data sheet"},
    {"cuda:90", "NVIDIA H200", 4.8 * kTera, 34 * kTera, 67 * kTera, 67 * kTera, 494.5 * kTera,
     989.5 * kTera, 1'979 * kTera, 1'979 * kTera, "NVIDIA H200 SXM data sheet, dense"},
    {"cuda:100", "NVIDIA B200", 7.7 * kTera, 37 * kTera, 37 * kTera, 75 * kTera, 1'100 * kTera,
     2'250 * kTera, 4'500 * kTera, 4'500 * kTera, "NVIDIA HGX B200 data sheet, dense, per GPU"},
    // The rate of float32 is that of packed instructions (v_pk_fma_f32), as for the other targets.
    {"hip:gfx90a", "AMD Instinct MI250", 1.6384 * kTera, 22.65 * kTera, 45.25 * kTera,
     45.25 * kTera, 0, 181.05 * kTera, 0, 181.05 * kTera,
     "AMD Instinct MI250 data sheet, dense, one of two dies"},
    {"hip:gfx942", "AMD Instinct MI300X", 5.3 * kTera, 81.7 * kTera, 163.4 * kTera, 163.4 * kTera,
     653.7 * kTera, 1'307.4 * kTera, 2'614.9 * kTera, 2'614.9 * kTera,
     "AMD Instinct MI300X data sheet, dense"},
    {"hip:gfx950", "AMD Instinct MI355X", 8 * kTera, 78.6 * kTera, 78.6 * kTera, 157.3 * kTera, 0,
     2'516.6 * kTera, 5'033.2 * kTera, 5'033.2 * kTera, "AMD Instinct MI355X data sheet, dense"},
}};
static_assert(has_each_target(kPeaks));

struct Product {
  Peaks peaks;
  std::int64_t multiprocessors;
};

// Further products, whose peaks are not those of the target's device in proportion to the
// multiprocessors.
constexpr std::array kProducts = {
    Product{{"hip:gfx942", "AMD Instinct MI300A", 5.3 * kTera, 61.3 * kTera, 122.6 * kTera,
             122.6 * kTera, 490.3 * kTera, 980.6 * kTera, 1'961.2 * kTera, 1'961.2 * kTera,
             "AMD Instinct MI300A data sheet, dense"},
            228},
    Product{{"hip:gfx942", "AMD Instinct MI325X", 6 * kTera, 81.7 * kTera, 163.4 * kTera,
             163.4 * kTera, 653.7 * kTera, 1'307.4 * kTera, 2'614.9 * kTera, 2'614.9 * kTera,
             "AMD Instinct MI325X data sheet, dense"},
            304},
    Product{{"hip:gfx950", "AMD Instinct MI350X", 8 * kTera, 72.1 * kTera, 72.1 * kTera,
             144.2 * kTera, 0, 2'306.9 * kTera, 4'613.7 * kTera, 4'613.7 * kTera,
             "AMD Instinct MI350X data sheet, dense"},
            256},
};

}  // namespace

double Peaks::flops_per_s(std::string_view unit) const {
  const std::array<std::pair<std::string_view, double>, 7> units = {
      {{"float64", float64},
       {"float64 tensor", float64_tensor},
       {"float32", float32},
       {"tf32 tensor", tf32_tensor},
       {"float16 tensor", float16_tensor},
       {"float8 tensor", float8_tensor},
       {"int8 tensor", int8_tensor}}};
  const auto found =
      std::find_if(units.begin(), units.end(), [&](const auto& one) { return one.first == unit; });
  return found == units.end() ? 0 : found->second;
}

std::optional<Peaks> peaks_of(std::string_view target) {
  const auto found = std::find_if(kPeaks.begin(), kPeaks.end(),
                                  [&](const Peaks& one) { return one.target == target; });
  return found == kPeaks.end() ? std::nullopt : std::optional(*found);
}

namespace {

constexpr std::array<TargetLimits, kTargets.size()> kLimits = {{
    {"cuda:80", "NVIDIA A100", 108, 32, 64, 32, 65536, 256, 167936, 1024},
    {"cuda:90", "NVIDIA H200", 132, 32, 64, 32, 65536, 256, 233472, 1024},
    {"cuda:100", "NVIDIA B200", 148, 32, 64, 32, 65536, 256, 233472, 1024},
    {"hip:gfx90a", "AMD Instinct MI250", 104, 64, 32, 32, 131072, 512, 65536, 0},
    {"hip:gfx950", "AMD Instinct MI355X", 256, 64, 32, 32, 131072, 512, 163840, 0},
    {"hip:gfx942", "AMD Instinct MI300X", 304, 64, 32, 32, 131072, 512, 65536, 0},
}};
static_assert(has_each_target(kLimits));

/// Multiplies the rates of the units.
Peaks scaled(Peaks peaks, double factor) {
  for (double* rate : {&peaks.float64, &peaks.float64_tensor, &peaks.float32, &peaks.tf32_tensor,
                       &peaks.float16_tensor, &peaks.float8_tensor, &peaks.int8_tensor})
    *rate *= factor;
  return peaks;
}

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

std::optional<TargetLimits> target_limits(std::string_view target) {
  for (const TargetLimits& limits : kLimits) {
    if (limits.target == target) return limits;
  }
  return std::nullopt;
}

Peaks peaks_of_product(std::string_view target, std::string_view device_name,
                       std::int64_t multiprocessors) {
  Peaks peaks = peaks_of(target).value_or(Peaks{});
  const auto limits = target_limits(target);
  std::int64_t has = limits ? limits->multiprocessors : 0;
  for (const Product& product : kProducts) {
    if (product.peaks.target != target ||
        device_name.find(product.peaks.device_name) == std::string_view::npos)
      continue;
    peaks = product.peaks;
    has = product.multiprocessors;
  }
  if (has == 0 || multiprocessors <= 0) return peaks;
  return scaled(peaks, static_cast<double>(multiprocessors) / static_cast<double>(has));
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
  // If two resources limit the occupancy equally, the first resource in this list is named as the
  // limiter. So resources that a kernel's author can change come last.
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
