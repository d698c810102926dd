// GuardedMemory: a plan's buffers on the device, each between two bands of a known byte (canaries),
// so that a kernel that writes past its buffers is caught and cannot harm another buffer unseen.
//
//   GuardedMemory memory(gpu);
//   LaunchResult<DevicePtr> x = memory.add(bytes, 256, "buffer 0 (input x, 4096 bytes)");
//   ... run ...
//   LaunchStatus intact = memory.check();        // canary_violation, naming the buffer and the
//   byte
//
// Frees everything at its end. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/launcher/driver/gpu_driver.h"

namespace assay::sandbox {

inline constexpr std::uint64_t kGuardBytes = 4096;      // before a buffer, and after it
inline constexpr std::uint32_t kBufferAlignment = 256;  // what the driver's allocations have
inline constexpr unsigned char kGuardByte = 0xC5;

class GuardedMemory {
 public:
  explicit GuardedMemory(GpuDriver& gpu) : gpu_(gpu) {}
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory();

  /// Device memory that add() takes for such a buffer. UINT64_MAX when it does not fit 64 bits.
  static std::uint64_t cost(std::uint64_t bytes, std::uint32_t alignment);

  /// A buffer with its guards written. `alignment` is a power of two. `what` names it in messages.
  LaunchResult<DevicePtr> add(std::uint64_t bytes, std::uint32_t alignment, std::string what);

  /// Waits, then reads every guard back.
  LaunchStatus check();

 private:
  struct Region {
    DevicePtr base = 0, data = 0;
    std::uint64_t total = 0, bytes = 0;
    std::string what;
  };

  GpuDriver& gpu_;
  std::vector<Region> regions_;
};

}  // namespace assay::sandbox
