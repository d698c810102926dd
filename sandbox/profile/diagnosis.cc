#include "sandbox/profile/diagnosis.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>

namespace assay::sandbox {
namespace {

// A kernel that reaches this share of a peak rate is limited by that rate. Nsight Compute's
// speed-of-light rule uses the same share.
constexpr double kSaturated = 0.6;
// If nothing else explains the time, a kernel that reaches this share of a peak rate is limited by
// that rate.
constexpr double kNearRoofline = 0.4;
// The approximate time of a kernel that does nothing, from start to end with cold caches.
constexpr double kLaunchNs = 4'000;
// A grid leaves too many multiprocessors idle if the number of its blocks is below this share of
// the number of multiprocessors.
constexpr double kIdleShare = 0.5;

constexpr double kGoodShare = 0.85;  // share of the roofline above which little can be gained
constexpr double kLowOccupancy = 0.35;
constexpr double kNarrowShare = 0.5;  // share of the narrow loads among the global loads
// Above this share of bank conflicts among the wavefronts of shared-memory accesses, the conflicts
// are worth a suggestion.
constexpr double kBankConflictShare = 0.2;

template <class... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 280> buffer{};
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

/// Describes the probable reason why the kernel waits. Used if no peak rate explains the kernel's
/// time.
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
        formatted(
            "%.1f us for %.0f launches; a launch that does nothing also takes some microseconds",
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
  if (roof.flops_per_s <= 0) {  // the device lacks this unit, so the vector units do the work
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

namespace {

using Advice = std::optional<std::string>;

Advice spills(const Circumstances& at) {
  const auto most =
      std::max_element(at.kernels.begin(), at.kernels.end(),
                       [](const auto& a, const auto& b) { return a.spill_bytes < b.spill_bytes; });
  if (most == at.kernels.end() || most->spill_bytes == 0) return {};
  return "`" + most->name + "` spills " + std::to_string(most->spill_bytes) +
         " B a thread to local memory (" + std::to_string(most->registers) +
         " registers): use smaller blocks, or more warps for the same block.";
}

Advice idle_multiprocessors(const Circumstances& at) {
  const std::int64_t widest = widest_grid(at.kernels);
  if (widest == 0 || at.roofline.cost_bytes < kWorkForWholeGpuBytes ||
      widest * 2 > at.multiprocessors)
    return {};
  return "The widest launch has " + std::to_string(widest) +
         (widest == 1 ? " thread block" : " thread blocks") + " for " +
         std::to_string(at.multiprocessors) +
         " multiprocessors: split the work over more programs (smaller blocks, or split the "
         "reduction).";
}

Advice many_launches(const Circumstances& at) {
  const std::int64_t launches = launches_of(at.kernels);
  if (at.finding.bound != Bound::launch) return {};
  if (launches > 1)
    return "Fuse its " + std::to_string(launches) +
           " launches: the work is so small that launching takes most of the time.";
  return "One launch, and the work is small: most of the time is the fixed cost of a launch. "
         "Compare on "
         "a larger case before you tune.";
}

Advice without_matrix_units(const Circumstances& at) {
  const bool has_tensor =
      std::any_of(at.code.begin(), at.code.end(), [](const auto& one) { return one.tensor > 0; });
  const bool is_half = at.dtype == "float16" || at.dtype == "bfloat16";
  if (at.code.empty() || has_tensor || at.finding.bound != Bound::compute || !is_half) return {};
  return "No matrix instruction in its code: " +
         (at.tensor_flops_per_s > 0
              ? formatted("with `tl.dot` the roof is %.0f instead of %.0f TFLOP/s.",
                          at.tensor_flops_per_s / 1e12, at.roofline.flops_per_s / 1e12)
              : std::string("use `tl.dot`."));
}

Advice old_matrix_path(const Circumstances& at) {
  if (at.target != "cuda:90" || at.finding.bound == Bound::launch) return {};
  for (const CodeDigest& digest : at.code) {
    const auto has = [&](const char* name) {
      return std::any_of(digest.opcodes.begin(), digest.opcodes.end(),
                         [&](const auto& one) { return one.opcode == name; });
    };
    if (has("HMMA") && !has("HGMMA"))
      return "`" + digest.kernel +
             "` multiplies with HMMA, not with Hopper's HGMMA (about half its rate): give `tl.dot` "
             "blocks of at least 64 rows and a multiple of 4 warps.";
  }
  return {};
}

std::int64_t sum(const std::map<std::string, std::int64_t>& counts) {
  std::int64_t all = 0;
  for (const auto& [width, count] : counts) all += count;
  return all;
}

Advice narrow_loads(const Circumstances& at) {
  if (at.finding.bound != Bound::memory && at.finding.bound != Bound::latency) return {};
  for (const CodeDigest& digest : at.code) {
    std::int64_t narrow = 0;
    for (const auto& [width, count] : digest.global_loads)
      narrow += width == "8" || width == "16" || width == "32" ? count : 0;
    const std::int64_t all = sum(digest.global_loads);
    // A few narrow loads are probably loads of scalars, so they do not count.
    if (all < 4 || static_cast<double>(narrow) < kNarrowShare * static_cast<double>(all)) continue;
    const std::string found = "`" + digest.kernel + "`: " + std::to_string(narrow) + " of its " +
                              std::to_string(all) + " global loads move at most 4 bytes a thread";
    if (at.unaligned_row_bytes > 0)
      return found + ", and rows of " + std::to_string(at.unaligned_row_bytes) +
             " bytes do not all begin at a multiple of 16: have more loads in flight instead (more "
             "elements a thread).";
    return found +
           ": make neighbouring elements contiguous and blocks large enough for 16 bytes a thread "
           "(tl.multiple_of, tl.max_contiguous help the compiler see "
           "it).";
  }
  return {};
}

Advice bank_conflicts(const Circumstances& at) {
  for (const KernelCounters& one : at.counters) {
    const auto share = one.values.find("shared_conflict_share");
    if (share != one.values.end() && share->second > kBankConflictShare)
      return "`" + one.kernel +
             formatted(
                 "`: %.0f %% of its shared-memory wavefronts are bank conflicts: change the layout "
                 "(transpose the tile, pad it, or let tl.dot read it).",
                 share->second * 100);
  }
  return {};
}

Advice at_the_roof(const Circumstances& at) {
  if (!at.roofline.share || *at.roofline.share < kGoodShare) return {};
  return formatted(
      "At %.0f %% of the roofline little is left here: only less traffic or work would help.",
      *at.roofline.share * 100);
}

Advice low_occupancy(const Circumstances& at) {
  const auto least =
      std::min_element(at.kernels.begin(), at.kernels.end(),
                       [](const auto& a, const auto& b) { return a.occupancy < b.occupancy; });
  if (least == at.kernels.end() || least->occupancy <= 0 || least->occupancy >= kLowOccupancy)
    return {};
  // A kernel with matrix instructions can be fast with few warps, if its pipelines are deep.
  if (std::any_of(at.code.begin(), at.code.end(),
                  [&](const auto& one) { return one.kernel == least->name && one.tensor > 0; }))
    return {};
  const bool registers = least->occupancy_limiter == "registers";
  return "`" + least->name + "`" +
         formatted(" reaches %.0f %% occupancy, limited by %s: ", least->occupancy * 100,
                   least->occupancy_limiter.c_str()) +
         (registers ? "smaller blocks need fewer of them (" + std::to_string(least->registers) +
                          " a thread)."
          : least->occupancy_limiter == "shared memory"
              ? "smaller blocks or fewer num_stages need less of it (" +
                    std::to_string(least->shared_bytes) + " B a block)."
              : std::string("more warps a block."));
}

Advice by_class(const Circumstances& at) {
  if (at.finding.evidence == Evidence::compiled && at.finding.bound == Bound::memory)
    return "Nothing in the compiled code stands out (wide loads, no spills, enough blocks): time "
           "it on a GPU before you change it, or fuse more work into the "
           "same reads.";
  switch (at.finding.bound) {
    case Bound::memory:
      return "Move fewer bytes: fuse what reads the same data, keep intermediates in registers, "
             "read each input once.";
    case Bound::compute:
      return "Try other block sizes, num_warps and num_stages (autotune): the arithmetic units are "
             "what counts.";
    case Bound::latency:
      return "Have more in flight: more work a program (larger blocks, num_stages for loads in "
             "loops), more programs, fewer barriers and dependent loads.";
    case Bound::launch: return many_launches(at);
  }
  return {};
}

}  // namespace

std::string suggestion(const Circumstances& at) {
  for (const auto rule :
       {spills, idle_multiprocessors, many_launches, without_matrix_units, at_the_roof,
        bank_conflicts, old_matrix_path, narrow_loads, low_occupancy}) {
    if (const Advice advice = rule(at)) return *advice;
  }
  return by_class(at).value_or("");
}

}  // namespace assay::sandbox
