#include "sandbox/profile/diagnosis.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace assay::sandbox {
namespace {

constexpr double kSaturated = 0.6;  // of a peak: clearly what bounds it. The same line as in Nsight
                                    // Compute's speed-of-light rule
constexpr double kNearRoofline = 0.4;  // of a peak, when nothing else explains the time
constexpr double kLaunchNs =
    4'000;  // of one kernel that does nothing, from start to end with cold caches, about
constexpr double kIdleShare = 0.5;  // of the multiprocessors: less than that and the rest waits

template <class... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 200> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, values...);
  return buffer.data();
}

std::string unit_of(const RooflineInput& input) {
  const auto most = std::max_element(
      input.code.begin(), input.code.end(),
      [](const CodeDigest& a, const CodeDigest& b) { return a.tensor < b.tensor; });
  if (most != input.code.end() && most->tensor > 0) return most->tensor_unit;
  if (input.dtype == "float64") return "float64";
  if (!input.code.empty()) return "float32";
  if (input.dtype == "float16" || input.dtype == "bfloat16") return "float16 tensor";
  if (input.dtype == "int8") return "int8 tensor";
  return input.dtype.starts_with("float8") ? "float8 tensor" : "float32";
}

double memory_ns(const Roofline& roof) {
  return roof.bytes_per_s > 0 ? roof.cost_bytes / roof.bytes_per_s * 1e9 : 0;
}
double compute_ns(const Roofline& roof) {
  return roof.flops_per_s > 0 ? roof.cost_flops / roof.flops_per_s * 1e9 : 0;
}

Bound slower_half(const Roofline& roof) {
  return memory_ns(roof) >= compute_ns(roof) ? Bound::memory : Bound::compute;
}

std::string roof_text(const Roofline& roof) {
  return slower_half(roof) == Bound::memory
             ? formatted("%.4g GB/s of memory", roof.bytes_per_s / 1e9)
             : formatted("%.4g TFLOP/s (%s)", roof.flops_per_s / 1e12, roof.unit.c_str());
}

/// The part that says where the time goes when no roof is near.
std::string what_waits(const BoundInput& input) {
  const std::int64_t widest = widest_grid(input.kernels);
  if (widest > 0 && input.multiprocessors > 0 &&
      static_cast<double>(widest) < kIdleShare * static_cast<double>(input.multiprocessors))
    return "its widest launch has " + std::to_string(widest) + " thread blocks for " +
           std::to_string(input.multiprocessors) + " multiprocessors";
  const auto least = std::min_element(
      input.kernels.begin(), input.kernels.end(),
      [](const KernelReport& a, const KernelReport& b) { return a.occupancy < b.occupancy; });
  if (least != input.kernels.end() && least->occupancy > 0 && least->occupancy < 0.5)
    return formatted("occupancy of %.0f %% limited by %s", least->occupancy * 100,
                     least->occupancy_limiter.c_str());
  return "too few independent operations in flight";
}

Finding by_counters(const BoundInput& input) {
  const auto time_of = [](const KernelCounters& one) {
    const auto found = one.values.find("duration_ns");
    return found == one.values.end() ? 0.0 : found->second;
  };
  const auto longest =
      std::max_element(input.counters.begin(), input.counters.end(),
                       [&](const auto& a, const auto& b) { return time_of(a) < time_of(b); });
  const auto value = [&](const char* name) {
    const auto found = longest->values.find(name);
    return found == longest->values.end() ? 0.0 : found->second / 100;
  };
  const double memory = value("memory_pct"), compute = value("sm_pct");
  const std::string shown = formatted(
      "counters of its longest kernel: memory at %.0f %%, multiprocessors at %.0f %% of their "
      "peaks",
      memory * 100, compute * 100);
  if (std::max(memory, compute) >= kSaturated)
    return {memory >= compute ? Bound::memory : Bound::compute, Evidence::counters, shown};
  const std::int64_t launches = std::max<std::int64_t>(launches_of(input.kernels), 1);
  const bool tiny = input.roofline.latency_ns &&
                    *input.roofline.latency_ns < static_cast<double>(launches) * kLaunchNs;
  return {tiny ? Bound::launch : Bound::latency, Evidence::counters, shown};
}

Finding by_timing(const BoundInput& input) {
  const Roofline& roof = input.roofline;
  const double share = *roof.share;
  const auto launches = static_cast<double>(std::max<std::int64_t>(launches_of(input.kernels), 1));
  const std::string near = formatted("%.0f %% of the roofline, ", share * 100) + roof_text(roof);
  if (share >= kSaturated) return {slower_half(roof), Evidence::timing, near};
  if (*roof.latency_ns < launches * kLaunchNs)
    return {
        Bound::launch, Evidence::timing,
        formatted("%.1f us for %.0f launches; one that does nothing takes some microseconds too",
                  *roof.latency_ns / 1e3, launches)};
  if (share >= kNearRoofline) return {slower_half(roof), Evidence::timing, near};
  return {Bound::latency, Evidence::timing,
          formatted("only %.0f %% of the roofline: ", share * 100) + what_waits(input)};
}

Finding by_code(const BoundInput& input) {
  const Roofline& roof = input.roofline;
  const auto launches = static_cast<double>(std::max<std::int64_t>(launches_of(input.kernels), 1));
  if (roof.floor_ns < launches * kLaunchNs / 2)
    return {Bound::launch, Evidence::compiled,
            formatted("at peak the work takes %.2f us; %.0f launches take longer than that",
                      roof.floor_ns / 1e3, launches)};
  const std::int64_t widest = widest_grid(input.kernels);
  if (widest > 0 &&
      static_cast<double>(widest) < kIdleShare * static_cast<double>(input.multiprocessors))
    return {Bound::latency, Evidence::compiled, what_waits(input)};
  return {slower_half(roof), Evidence::compiled,
          formatted("%.3g FLOP a byte where the roofs meet at %.3g; the nearer roof is ",
                    roof.cost_bytes > 0 ? roof.cost_flops / roof.cost_bytes : 0,
                    roof.bytes_per_s > 0 ? roof.flops_per_s / roof.bytes_per_s : 0) +
              roof_text(roof)};
}

}  // namespace

Roofline roofline(const RooflineInput& input) {
  Roofline roof;
  roof.cost_bytes = input.cost_bytes;
  roof.cost_flops = input.cost_flops;
  roof.bytes_per_s = input.peaks.bytes_per_s;
  roof.unit = unit_of(input);
  roof.flops_per_s = input.peaks.flops_per_s(roof.unit);
  if (roof.flops_per_s <= 0) {  // what the device lacks is done by its vector units
    roof.unit = "float32";
    roof.flops_per_s = input.peaks.float32;
  }
  roof.source = input.peaks.source;
  roof.floor_ns = std::max(memory_ns(roof), compute_ns(roof));
  return roof;
}

Finding find_bound(const BoundInput& input) {
  if (!input.counters.empty()) return by_counters(input);
  return input.roofline.latency_ns && input.roofline.share ? by_timing(input) : by_code(input);
}

std::int64_t launches_of(const std::vector<KernelReport>& kernels) {
  std::int64_t launches = 0;
  for (const KernelReport& kernel : kernels) launches += kernel.launches;
  return launches;
}

std::int64_t widest_grid(const std::vector<KernelReport>& kernels) {
  std::int64_t widest = 0;
  for (const KernelReport& kernel : kernels) {
    if (kernel.grid.empty()) continue;
    std::int64_t blocks = 1;
    for (const std::int64_t extent : kernel.grid) blocks *= extent;
    widest = std::max(widest, blocks);
  }
  return widest;
}

}  // namespace assay::sandbox
