#include "sandbox/launcher/driver/gpu_driver.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace assay::sandbox {
namespace {

// The number of words to test. The words take 256 KiB in total, so that every memory partition of a
// current GPU contains some of them.
constexpr std::uint64_t kWords = 1 << 16;
constexpr std::uint32_t kPatterns[] = {0x5aa5c33c, 0xa55a3cc3};

LaunchStatus check_pattern(GpuDriver& gpu, DevicePtr from, DevicePtr to, std::uint32_t pattern) {
  if (LaunchStatus s = gpu.fill_async(from, kWords, sizeof pattern, pattern); !s) return s;
  if (LaunchStatus s = gpu.copy_async(to, from, kWords * sizeof pattern); !s) return s;
  if (LaunchStatus s = gpu.synchronize(); !s) return s;
  std::vector<std::byte> bytes(kWords * sizeof pattern);
  if (LaunchStatus s = gpu.read(bytes, to); !s) return s;
  for (std::uint64_t i = 0; i < kWords; ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + i * sizeof word, sizeof word);
    if (word != pattern)
      return launch_fail(LaunchErrorKind::internal_error, "word " + std::to_string(i) + " reads " +
                                                              std::to_string(word) + " and not " +
                                                              std::to_string(pattern));
  }
  return {};
}

LaunchStatus check_memory(GpuDriver& gpu) {
  LaunchResult<DevicePtr> from = gpu.allocate(kWords * sizeof(std::uint32_t));
  if (!from) return launch_fail(from.error());
  LaunchResult<DevicePtr> to = gpu.allocate(kWords * sizeof(std::uint32_t));
  LaunchStatus well = to ? LaunchStatus{} : launch_fail(to.error());
  for (const std::uint32_t pattern : kPatterns) {
    if (well) well = check_pattern(gpu, *from, *to, pattern);
  }
  if (to) gpu.free(*to);
  gpu.free(*from);
  return well;
}

}  // namespace

LaunchStatus check_health(GpuDriver& gpu) {
  LaunchStatus well = check_memory(gpu);
  if (!well)
    return launch_fail(well.error().kind, "the device fails its check: " + well.error().message);
  return well;
}

Status check_host_memory(const DeviceFacts& device) {
  if (!device.reaches_host_memory) return {};
  return fail(ErrorCode::unavailable,
              "kernels can access memory of the host, so a submission could change its times; " +
                  std::string(device.target.starts_with("hip:")
                                  ? "use a GPU without XNACK, or HSA_XNACK=0"
                                  : "load the kernel module nvidia-uvm with uvm_disable_hmm=1"));
}

}  // namespace assay::sandbox
