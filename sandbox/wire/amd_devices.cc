#include "sandbox/wire/amd_devices.h"

#include <algorithm>
#include <array>

namespace assay::sandbox {
namespace {

constexpr std::int64_t kGiga = 1'000'000'000;
// A die of an MI250 has a bus of 4096 bits, and each bit transfers 3.2 Gb/s.
constexpr std::int64_t kDieOfMi250 = 1'638'400'000'000;
constexpr std::int64_t kMiB = 1 << 20;

struct Product {
  std::string_view target, name;
  AmdMemory memory;
};

// An MI250 or MI250X has two dies, and HIP shows each as a device. The figures are those of one
// die.
constexpr std::array kProducts = {
    Product{"hip:gfx90a", "MI250", {kDieOfMi250, 8 * kMiB}},
    Product{"hip:gfx90a", "MI210", {kDieOfMi250, 8 * kMiB}},
    Product{"hip:gfx942", "MI300A", {5'300 * kGiga, 256 * kMiB}},
    Product{"hip:gfx942", "MI300X", {5'300 * kGiga, 256 * kMiB}},
    Product{"hip:gfx942", "MI325X", {6'000 * kGiga, 256 * kMiB}},
    Product{"hip:gfx950", "MI350X", {8'000 * kGiga, 256 * kMiB}},
    Product{"hip:gfx950", "MI355X", {8'000 * kGiga, 256 * kMiB}},
};

}  // namespace

AmdMemory amd_memory(std::string_view target, std::string_view device_name) {
  AmdMemory highest;
  for (const Product& product : kProducts) {
    if (product.target != target) continue;
    if (device_name.find(product.name) != std::string_view::npos) return product.memory;
    highest.bytes_per_s = std::max(highest.bytes_per_s, product.memory.bytes_per_s);
    highest.cache_bytes = std::max(highest.cache_bytes, product.memory.cache_bytes);
  }
  return highest;
}

}  // namespace assay::sandbox
