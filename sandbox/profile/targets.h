// What devices can do at best, by the figures that their makers publish: the roofs of a roofline
// for a target that is not here.
//
//   const std::optional<Peaks> peaks = peaks_of("cuda:90");
//   peaks->flops_per_s("float16 tensor");        // 989.5e12
//
// Dense rates, without structured sparsity, at the highest clock. Pure functions.
//
// Theoretical occupancy of a kernel on a target, from its resources alone, and what limits it.
//
//   Occupancy o = occupancy(*target_limits("cuda:90"), 128, 40, 16384);   // o.fraction == 0.75,
//   o.limiter == "registers"
//
// The limits are those of the CUDA programming guide's table of technical specifications per
// compute capability, and of AMD's CDNA3 and CDNA4 ISA documents for gfx942 and gfx950. Pure
// functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::sandbox {

struct Peaks {
  std::string_view target;
  std::string_view device_name;
  double bytes_per_s = 0;  // device memory
  double float64 = 0, float64_tensor = 0, float32 = 0, tf32_tensor = 0, float16_tensor = 0,
         float8_tensor = 0, int8_tensor = 0;  // operations/s; 0: it has no such unit
  std::string_view source;

  /// The rate of a unit by its name (Roofline::unit); 0 for one that the device lacks.
  double flops_per_s(std::string_view unit) const;
};

/// Nothing for a target without public figures here.
std::optional<Peaks> peaks_of(std::string_view target);

/// The targets that peaks_of() knows.
std::vector<std::string> targets_with_peaks();

struct TargetLimits {
  std::string_view target;
  std::string_view device_name;  // the device that stands for it
  std::int64_t multiprocessors;
  std::int64_t warp_size;
  std::int64_t warps_per_sm;
  std::int64_t blocks_per_sm;
  std::int64_t registers_per_sm;      // 32-bit, per lane on AMD already multiplied out
  std::int64_t register_granularity;  // registers are handed out to a warp in multiples of this
  std::int64_t shared_bytes_per_sm;
  std::int64_t reserved_shared_bytes;  // per block, taken by the system
};

/// Limits of "cuda:80", "cuda:90", "cuda:100", "hip:gfx942" or "hip:gfx950"; nullopt for another
/// target.
std::optional<TargetLimits> target_limits(std::string_view target);

struct Occupancy {
  double fraction = 0;  // active warps / warps the multiprocessor can hold
  std::int64_t blocks_per_sm = 0;
  std::string limiter;  // "warps", "blocks", "registers" or "shared memory"
};

Occupancy occupancy(const TargetLimits& limits, std::int64_t threads_per_block,
                    std::int64_t registers_per_thread, std::int64_t shared_bytes);

}  // namespace assay::sandbox
