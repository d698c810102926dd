// GuardedMemory: a plan's buffers on the device, each between two bands of a known byte (canaries),
// so that a kernel that writes past its buffers is caught and cannot harm another buffer unseen.
//
//   GuardedMemory memory(gpu);
//   LaunchResult<DevicePtr> x = memory.add(bytes, 256, "buffer 0 (input x, 4096 bytes)");
//   LaunchStatus intact = memory.check();        // after the run
//
// The error of check() is canary_violation and names the buffer and the byte. The destructor frees
// all memory. Not thread-safe.
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

  /// Returns the device memory that add() takes for such a buffer, or UINT64_MAX if it does not fit
  /// 64 bits.
  static std::uint64_t cost(std::uint64_t bytes, std::uint32_t alignment);

  /// Allocates a buffer and writes its guards. `alignment` is a power of two. `what` names the
  /// buffer in messages.
  LaunchResult<DevicePtr> add(std::uint64_t bytes, std::uint32_t alignment, std::string what);

  /// Waits for the queued work, then reads every guard back.
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
