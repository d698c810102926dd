// The memory of a plan's buffers on the device, and their contents before a run.
//
// GuardedMemory allocates each buffer between two bands of a known byte (canaries). So a kernel
// that writes past its buffers is detected, and cannot change another buffer unnoticed.
//
//   GuardedMemory memory(gpu);
//   LaunchResult<DevicePtr> x = memory.add(bytes, 256, "buffer 0 (input x, 4096 bytes)");
//   LaunchStatus intact = memory.check();  // after the run
//
// InitialState writes the first contents of the buffers, and restores them between timed runs,
// because device code may write any buffer.
//
//   InitialState initial(gpu, poison);
//   initial.add(buffer, n, source);                   // an input or a constant
//   initial.add_poisoned(scratch, n);                 // every other buffer
//   LaunchStatus written = initial.write();           // before the first run
//   LaunchStatus kept = initial.keep_on_device();     // once, if the plan will be timed
//   LaunchStatus restored = initial.restore_async();  // before each further run
//   LaunchStatus staged = initial.stage(trusted);     // when the sources hold new inputs
//   LaunchResult<bool> unseen = initial.swap_inputs();
//   restored = initial.restore_async();               // restores the new inputs
//
// stage() copies new inputs to device memory before they are needed, for this reason: a source is
// mapped while it is read, and unmapping memory on a GPU makes the next kernel some 300 ns slower,
// because its instructions are fetched again. The first run on new inputs must not be slower than
// later runs.
//
// The destructors free all memory. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/memory/trusted_kernels.h"

namespace assay::sandbox {

inline constexpr std::uint64_t kGuardBytes = 4096;      // before each buffer, and after it
inline constexpr std::uint32_t kBufferAlignment = 256;  // the alignment of allocations
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

  /// Waits for the queued work, then reads every guard back. Errors: canary_violation, which names
  /// the buffer and the byte.
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

class InitialState {
 public:
  /// Writes the first contents of a buffer to device memory at `to`.
  using Source = std::function<LaunchStatus(DevicePtr to)>;

  InitialState(GpuDriver& gpu, std::uint8_t poison) : gpu_(gpu), poison_(poison) {}
  InitialState(const InitialState&) = delete;
  InitialState& operator=(const InitialState&) = delete;
  ~InitialState();

  void add(DevicePtr buffer, std::uint64_t bytes, Source source) {
    filled_.push_back({buffer, bytes, std::move(source)});
  }
  void add_poisoned(DevicePtr buffer, std::uint64_t bytes) { poisoned_.push_back({buffer, bytes}); }

  /// Writes the first contents of all buffers.
  LaunchStatus write();
  /// Copies the contents of each buffer to device memory of their own, from the source: a run may
  /// have changed the buffer. Contents for which the device has no room are restored from their
  /// source.
  LaunchStatus keep_on_device();
  /// Reads each source again, and keeps the new contents masked with a new key beside the first
  /// copy. restore_async() still restores the old contents. `trusted` is null on a device without
  /// trusted kernels; then swap_inputs() reads the sources.
  LaunchStatus stage(TrustedKernels* trusted);
  /// Makes restore_async() restore the staged contents from now on. Returns true if no kernel can
  /// have read them and reading them will not slow the first run. Returns false if the device had
  /// no room to stage them.
  LaunchResult<bool> swap_inputs();
  /// Queues the copies that restore the contents, device to device where possible.
  LaunchStatus restore_async();

 private:
  struct Filled {
    DevicePtr buffer;
    std::uint64_t bytes;
    Source source;
    DevicePtr copy = 0, staged = 0;  // 0 if there is none
  };
  struct Poisoned {
    DevicePtr buffer;
    std::uint64_t bytes;
  };
  LaunchStatus poison_async();
  /// Allocates memory in whole words of a mask. Returns 0 if the device is full.
  LaunchResult<DevicePtr> room_for(std::uint64_t bytes);

  GpuDriver& gpu_;
  std::uint8_t poison_;
  std::vector<Filled> filled_;
  std::vector<Poisoned> poisoned_;
  TrustedKernels* trusted_ = nullptr;
  MaskKey key_{};
};

}  // namespace assay::sandbox
