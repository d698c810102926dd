// Allocates and fills the buffers of a plan on the device.
//
// GuardedMemory allocates each buffer between two guards (canaries), which are filled with a known
// pattern. A kernel that writes past a buffer changes a guard, so the write is detected. The guards
// also keep a short overrun from reaching another buffer. As a floating-point number, the pattern
// is not a number, so a result that depends on a read past a buffer is wrong, even if the kernel
// multiplies what it has read by 0.
//
//   GuardedMemory memory(gpu);
//   LaunchStatus reserved = memory.reserve({{bytes}, {bytes}});  // one allocation for both
//   LaunchResult<DevicePtr> x = memory.add(bytes, 256, "buffer 0 (input x, 4096 bytes)");
//   LaunchStatus filled = memory.fill_guards();  // before the first run
//   LaunchStatus intact = memory.check();  // call it after each run
//
// InitialState writes the first contents of the buffers before a run. Between timed runs it
// restores these contents, because device code may write to any buffer.
//
//   InitialState initial(gpu, poison, trusted);
//   initial.add(buffer, n, source);                   // an input or a constant
//   initial.add_poisoned(scratch, n);                 // every other buffer
//   LaunchStatus copied = initial.write_sources();    // before the first run
//   LaunchStatus written = initial.write_poison();
//   LaunchStatus kept = initial.keep_on_device();     // once, if the plan will be timed
//   LaunchStatus restored = initial.restore_async();  // before each further run
//   LaunchStatus staged = initial.stage();            // when the sources hold new inputs
//   LaunchResult<bool> unseen = initial.swap_inputs();
//   restored = initial.restore_async();               // restores the new inputs
//
// stage() copies new inputs to device memory before they are needed, because the first run on new
// inputs must not be slower than later runs. A direct read of the source would make this run
// slower: it maps shared memory and unmaps it again, and the next kernel is then about 300 ns
// slower, because the GPU fetches the kernel's instructions again.
//
// The destructors free all memory. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/memory/trusted_kernels.h"

namespace assay::sandbox {

// The size of the guard before each buffer, and of the guard after it, in bytes.
inline constexpr std::uint64_t kGuardBytes = 4096;
inline constexpr std::uint32_t kBufferAlignment = 256;  // the alignment of allocations
// Every two bytes of a guard at an even address are this word. It is not a number as float16,
// bfloat16, float32 and float64; in the formats of 8 bits, every other byte is not a number.
inline constexpr std::uint16_t kGuardWord = 0xFFF5;
/// Returns what a guard has at this address.
constexpr std::byte guard_byte(DevicePtr at) {
  return std::byte{static_cast<unsigned char>(at % 2 == 0 ? kGuardWord & 0xFF : kGuardWord >> 8)};
}

class GuardedMemory {
 public:
  /// With Guards::none, each buffer is an allocation of exactly its size. A memory checker then
  /// notices every access outside of a buffer, including reads.
  enum class Guards { kept, none };
  explicit GuardedMemory(GpuDriver& gpu, Guards guards = Guards::kept)
      : gpu_(gpu), guards_(guards) {}
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory();

  /// Returns the number of bytes of device memory that add() allocates for a buffer of `bytes`
  /// bytes, including the guards. Returns UINT64_MAX if the number exceeds 64 bits.
  static std::uint64_t cost(std::uint64_t bytes, std::uint32_t alignment);

  /// A buffer that add() will be called for.
  struct Size {
    std::uint64_t bytes = 0;
    std::uint32_t alignment = kBufferAlignment;
  };
  /// Allocates the memory of all these buffers with one call of the driver, if the driver prefers
  /// that (GpuDriver::prefers_one_allocation) and there are guards. A buffer from it has the same
  /// guards and the same alignment as one with an allocation of its own. If the memory is lacking,
  /// each buffer gets an allocation of its own.
  LaunchStatus reserve(const std::vector<Size>& sizes);
  /// Allocates a buffer. `alignment` is a power of two. `what` is the buffer's name in messages.
  LaunchResult<DevicePtr> add(std::uint64_t bytes, std::uint32_t alignment, std::string what);

  /// Queues the fills of all guards. These fills are kernels of the driver, which submitted code
  /// may have changed. So they must not run while memory of the judge is mapped.
  LaunchStatus fill_guards();
  /// Waits for the queued work, then reads every guard back. Errors: canary_violation if a guard
  /// has changed; the message names the buffer and the byte.
  LaunchStatus check();

 private:
  LaunchStatus fill_guard(DevicePtr from, std::uint64_t bytes);
  /// Returns memory of `bytes` bytes for one region: from reserve(), if enough is left of it.
  LaunchResult<DevicePtr> memory_for(std::uint64_t bytes);

  struct Region {
    DevicePtr base = 0, data = 0;
    std::uint64_t total = 0, bytes = 0;
    std::string what;
  };

  GpuDriver& gpu_;
  const Guards guards_;
  std::vector<Region> regions_;
  std::vector<DevicePtr> allocations_;
  DevicePtr reserved_ = 0;            // the part of reserve()'s memory that no buffer has
  std::uint64_t reserved_bytes_ = 0;  // size of this part
};

class InitialState {
 public:
  /// A function that writes the first contents of a buffer to device memory at `to`.
  using Source = std::function<LaunchStatus(DevicePtr to)>;

  /// If `trusted` is null (the device cannot run trusted kernels), the driver fills and copies.
  InitialState(GpuDriver& gpu, std::uint16_t poison, TrustedKernels* trusted)
      : gpu_(gpu), poison_(poison), trusted_(trusted) {}
  InitialState(const InitialState&) = delete;
  InitialState& operator=(const InitialState&) = delete;
  ~InitialState();

  void add(DevicePtr buffer, std::uint64_t bytes, Source source) {
    filled_.push_back({buffer, bytes, std::move(source)});
  }
  void add_poisoned(DevicePtr buffer, std::uint64_t bytes) { poisoned_.push_back({buffer, bytes}); }

  /// Writes the first contents of the buffers that have a source.
  LaunchStatus write_sources();
  /// Queues fills of all other buffers with poison.
  LaunchStatus write_poison();
  /// Writes the first contents of the buffers that have a source. Each buffer's contents are read
  /// to host memory and written back from there, because a checker of uninitialised memory
  /// (initcheck) recognises only writes by the host. All other buffers stay as they were allocated,
  /// so that the checker finds reads of them.
  LaunchStatus write_from_host();
  /// Copies the first contents of each buffer to separate device memory. The contents are read from
  /// the source, because a run may have changed the buffer. If the device lacks memory for a copy,
  /// restore_async() reads the source instead.
  LaunchStatus keep_on_device();
  /// Reads the new contents from each source, masks them with a new key, and stores them in
  /// separate device memory. Until swap_inputs() is called, restore_async() still restores the old
  /// contents. Without trusted kernels, stage() does nothing, and swap_inputs() reads the sources.
  LaunchStatus stage();
  /// Makes restore_async() restore the new contents from now on. Returns true if no kernel can have
  /// read the new contents and if the switch does not slow down the first run. Returns false if the
  /// device lacked memory for the first copy or for the staged contents.
  LaunchResult<bool> swap_inputs();
  /// Queues the copies that restore the contents. Where possible, the copies are from device to
  /// device, and trusted kernels make them. The driver's own kernels for copies and fills could
  /// have been overwritten by the submission, and are not loaded again.
  LaunchStatus restore_async();

 private:
  struct Filled {
    DevicePtr buffer;
    std::uint64_t bytes;
    Source source;
    DevicePtr copy = 0, staged = 0;  // addresses of the copies; 0 if there is no copy
  };
  struct Poisoned {
    DevicePtr buffer;
    std::uint64_t bytes;
  };
  /// Allocates device memory for a copy of `bytes` bytes. The size is rounded up to a multiple of
  /// kMaskWordBytes, because a copy is masked in whole words. Returns 0 if the device lacks memory.
  LaunchResult<DevicePtr> room_for(std::uint64_t bytes);
  /// Queues fills by the driver: every word of 16 bits gets poison_. Of an odd number of bytes, the
  /// last one gets the low byte.
  LaunchStatus fill_async(const Poisoned& poisoned);

  GpuDriver& gpu_;
  std::uint16_t poison_;
  TrustedKernels* trusted_;
  std::vector<Filled> filled_;
  std::vector<Poisoned> poisoned_;
  MaskKey key_{};
};

}  // namespace assay::sandbox
