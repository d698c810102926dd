#include "sandbox/profile/peaks.h"

#include <algorithm>
#include <array>
#include <utility>

namespace assay::sandbox {
namespace {

constexpr double kTera = 1e12;

constexpr std::array<Peaks, 5> kPeaks = {{
    {"cuda:80", "NVIDIA A100", 2.039 * kTera, 9.7 * kTera, 19.5 * kTera, 19.5 * kTera, 156 * kTera,
     312 * kTera, 0, 624 * kTera, "NVIDIA A100 80GB SXM data sheet"},
    {"cuda:90", "NVIDIA H200", 4.8 * kTera, 34 * kTera, 67 * kTera, 67 * kTera, 494.5 * kTera,
     989.5 * kTera, 1'979 * kTera, 1'979 * kTera, "NVIDIA H200 SXM data sheet, dense"},
    {"cuda:100", "NVIDIA B200", 7.7 * kTera, 37 * kTera, 37 * kTera, 75 * kTera, 1'100 * kTera,
     2'250 * kTera, 4'500 * kTera, 4'500 * kTera, "NVIDIA HGX B200 data sheet, dense, per GPU"},
    {"hip:gfx942", "AMD Instinct MI300X", 5.3 * kTera, 81.7 * kTera, 163.4 * kTera, 163.4 * kTera,
     653.7 * kTera, 1'307.4 * kTera, 2'614.9 * kTera, 2'614.9 * kTera,
     "AMD Instinct MI300X data sheet, dense"},
    {"hip:gfx950", "AMD Instinct MI355X", 8 * kTera, 78.6 * kTera, 78.6 * kTera, 157.3 * kTera, 0,
     2'516.6 * kTera, 5'033.2 * kTera, 5'033.2 * kTera, "AMD Instinct MI355X data sheet, dense"},
}};

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

std::vector<std::string> targets_with_peaks() {
  std::vector<std::string> names;
  for (const Peaks& one : kPeaks) names.emplace_back(one.target);
  return names;
}

}  // namespace assay::sandbox
