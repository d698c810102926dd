// Lists facts of AMD's GPUs that the HIP runtime reports wrongly or not at all: the bandwidth of
// the memory, because the transfers per clock differ between generations, and the size of the cache
// in front of the memory (Infinity Cache), which the attribute of the L2 cache leaves out.
//
//   const AmdMemory memory = amd_memory("hip:gfx942", "AMD Instinct MI300X");
//   // memory.bytes_per_s is 5.3e12 and memory.cache_bytes is 256 MiB
//
// The sources are AMD's data sheets of the products, and the table "AMD GPU specifications" of
// ROCm's documentation (rocm.docs.amd.com, reference/gpu-specs). Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace assay::sandbox {

struct AmdMemory {
  std::int64_t bytes_per_s = 0;  // theoretical bandwidth
  std::int64_t cache_bytes = 0;  // the largest cache that all compute units share
};

/// Returns the facts of the product whose name is part of `device_name`. If there is no such
/// product of this target, returns the highest bandwidth and the largest cache of the target's
/// products, so that no time of a correct kernel is below the physical floor. Returns zeros for a
/// target without products in the list.
AmdMemory amd_memory(std::string_view target, std::string_view device_name);

}  // namespace assay::sandbox
