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

namespace assay::sandbox {

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
