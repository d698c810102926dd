// What the devices of a target can do: the peaks of their units and memory, and the limits that
// bound how many warps run at once. The tables serve targets whose device is absent.
//
//   const std::optional<Peaks> peaks = peaks_of("cuda:90");
//   peaks->flops_per_s("float16 tensor");  // 989.5e12
//   const Occupancy o = occupancy(*target_limits("cuda:90"), 128, 40, 16384);
//   // o.fraction is 0.75 and o.limiter is "registers"
//
// Peaks are dense rates at the highest clock, without structured sparsity, from the data sheets of
// the manufacturers. Limits are from the table of technical specifications in the CUDA programming
// guide and, for gfx942 and gfx950, from AMD's ISA documents of CDNA3 and CDNA4. Pure functions.
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
  double bytes_per_s = 0;  // of the device's memory
  // Operations per second; 0 where the device has no such unit.
  double float64 = 0, float64_tensor = 0, float32 = 0, tf32_tensor = 0, float16_tensor = 0,
         float8_tensor = 0, int8_tensor = 0;
  std::string_view source;

  /// Returns the rate of the unit with this name (Roofline::unit); 0 where the device lacks it.
  double flops_per_s(std::string_view unit) const;
};

/// Knows each target of kTargets (sandbox/job/target.h). Returns nothing for another target.
std::optional<Peaks> peaks_of(std::string_view target);

struct TargetLimits {
  std::string_view target;
  std::string_view device_name;  // the device whose figures these are
  std::int64_t multiprocessors;
  std::int64_t warp_size;
  std::int64_t warps_per_sm;
  std::int64_t blocks_per_sm;
  std::int64_t registers_per_sm;      // of 32 bits; on AMD the sum over the lanes
  std::int64_t register_granularity;  // a warp gets a multiple of this many registers
  std::int64_t shared_bytes_per_sm;
  std::int64_t reserved_shared_bytes;  // per block, taken by the system
};

/// Knows each target of kTargets (sandbox/job/target.h). Returns nothing for another target.
std::optional<TargetLimits> target_limits(std::string_view target);

struct Occupancy {
  double fraction = 0;  // active warps / warps that the multiprocessor can hold
  std::int64_t blocks_per_sm = 0;
  std::string limiter;  // "warps", "blocks", "registers" or "shared memory"
};

/// Returns the theoretical occupancy of a kernel with these resources.
Occupancy occupancy(const TargetLimits& limits, std::int64_t threads_per_block,
                    std::int64_t registers_per_thread, std::int64_t shared_bytes);

}  // namespace assay::sandbox
