// Lists the properties of each target's devices: the peak rates of their units and memory, and the
// limits on the number of warps that run at once. With these tables, code for a device can be
// analysed on a machine without this device.
//
//   const std::optional<Peaks> peaks = peaks_of("cuda:90");
//   peaks->flops_per_s("float16 tensor");  // 989.5e12
//   const Occupancy o = occupancy(*target_limits("cuda:90"), 128, 40, 16384);
//   // o.fraction is 0.75 and o.limiter is "registers"
//
// Peaks are the rates at the highest clock, without structured sparsity. They come from the
// manufacturers' data sheets. The limits are from the table of technical specifications in the CUDA
// programming guide. The limits of gfx90a, gfx942 and gfx950 are from AMD's ISA documents of
// CDNA2, CDNA3 and CDNA4. Pure functions.
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
  double bytes_per_s = 0;  // peak bandwidth of the device's memory
  // Peak operations per second of each unit. The value is 0 if the device has no such unit.
  double float64 = 0, float64_tensor = 0, float32 = 0, tf32_tensor = 0, float16_tensor = 0,
         float8_tensor = 0, int8_tensor = 0;
  std::string_view source;

  /// Returns the peak rate of the unit with this name (Roofline::unit). Returns 0 if the device
  /// lacks the unit.
  double flops_per_s(std::string_view unit) const;
};

/// Returns the peaks of each target of kTargets (sandbox/job/target.h). Returns nothing for another
/// target.
std::optional<Peaks> peaks_of(std::string_view target);

/// Returns the peaks of the product whose name is part of `device_name`, or those of the target if
/// no product has this name. If `multiprocessors` is above 0, the rates of the units are scaled to
/// a device with this number of multiprocessors. The text of the result lives as long as the
/// program.
Peaks peaks_of_product(std::string_view target, std::string_view device_name,
                       std::int64_t multiprocessors);

struct TargetLimits {
  std::string_view target;
  std::string_view device_name;  // the device to which these figures belong
  std::int64_t multiprocessors;
  std::int64_t warp_size;
  std::int64_t warps_per_sm;
  std::int64_t blocks_per_sm;
  std::int64_t registers_per_sm;  // registers of 32 bits; on AMD the sum over the lanes
  // The number of a warp's registers is rounded up to a multiple of this number.
  std::int64_t register_granularity;
  std::int64_t shared_bytes_per_sm;
  std::int64_t reserved_shared_bytes;  // reserved by the system in each block
};

/// Returns the limits of each target of kTargets (sandbox/job/target.h). Returns nothing for
/// another target.
std::optional<TargetLimits> target_limits(std::string_view target);

struct Occupancy {
  double fraction = 0;  // active warps / maximum number of warps of a multiprocessor
  std::int64_t blocks_per_sm = 0;
  std::string limiter;  // "warps", "blocks", "registers" or "shared memory"
};

/// Returns the theoretical occupancy of a kernel that uses these resources.
Occupancy occupancy(const TargetLimits& limits, std::int64_t threads_per_block,
                    std::int64_t registers_per_thread, std::int64_t shared_bytes);

}  // namespace assay::sandbox
