// TrustedKernels are the kernels that the launcher runs between the kernels of a submission. There
// are seven: one overwrites shared memory and registers, one reads the clock, one has a known
// duration, and the others compare, mask, fill and copy memory.
//
//   LaunchResult<TrustedKernels> trusted = TrustedKernels::load(gpu);
//   LaunchStatus scrubbed = trusted->scrub_async();
//   LaunchStatus queued = trusted->read_clock_async();
//   LaunchStatus done = gpu.synchronize();
//   LaunchResult<double> mhz = trusted->clock_mhz();
//
// scrub_async() is needed because shared memory and registers keep the values that a kernel left
// there. On a large GPU these values are tens of megabytes, enough to pass outputs from one sample
// to the next.
//
// The kernels are PTX text (trusted_ptx.h), or HIP C++ for AMD's GPUs (trusted_hip.h). The driver
// compiles the text when a launcher starts, before the launcher has a job. The fake device cannot
// run these kernels. Not thread-safe. The GpuDriver must outlive the object.
//
// Device code of a submission runs in the same context and can overwrite the code of these kernels
// (docs/explanation/threat-model.md). refresh() loads the code again from the host, so what the
// kernels do after refresh(), and before the submission's next kernel, is what their text says.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sandbox/launcher/driver/gpu_driver.h"

namespace assay::sandbox {

using MaskKey = std::array<std::uint64_t, 2>;
inline constexpr std::uint64_t kMaskWordBytes = 8;

// The duration of one reading of the clock, in nanoseconds. It is long, because the GPU's timer may
// tick only once a microsecond.
inline constexpr std::uint64_t kClockSpinNs = 20'000;

class TrustedKernels {
 public:
  static LaunchResult<TrustedKernels> load(GpuDriver& gpu);
  TrustedKernels(TrustedKernels&& other) noexcept;
  TrustedKernels& operator=(TrustedKernels&&) = delete;
  ~TrustedKernels();

  /// Runs once what the launch of a test runs: fills by the driver, a copy and a comparison. The
  /// driver loads a kernel when it is first launched, so the first test is faster after this.
  LaunchStatus rehearse();
  /// Waits for the queued work, and loads the code of every kernel again.
  LaunchStatus refresh();
  /// Does the same for the kernels that compare, mask, fill and copy memory. The others never get
  /// an address of memory that submitted code may not see.
  LaunchStatus refresh_those_of_memory();

  LaunchStatus scrub_async();
  LaunchStatus read_clock_async();
  /// Queues a kernel of known duration (kTouchColdNs and kTouchWarmNs in timing.h). Each thread
  /// reads and writes one word. There is one block on every multiprocessor.
  LaunchStatus touch_async();
  /// Returns true if two ranges of device memory contain the same bytes. Both addresses are 16-byte
  /// aligned. Waits for the result.
  LaunchResult<bool> same(DevicePtr a, DevicePtr b, std::uint64_t bytes);
  /// Queues a kernel that fills `bytes` bytes with a word of 16 bits. Of an odd number of bytes,
  /// the last one gets the low byte. `to` is 16-byte aligned.
  LaunchStatus fill_async(DevicePtr to, std::uint64_t bytes, std::uint16_t word);
  /// Queues a kernel that copies `bytes` bytes. The copy is slow unless both addresses are 16-byte
  /// aligned.
  LaunchStatus copy_async(DevicePtr to, DevicePtr from, std::uint64_t bytes);
  /// Queues a kernel that copies `from` to `to`, and masks or unmasks the copy (kMaskText). `words`
  /// counts words of kMaskWordBytes. `to` may be equal to `from`.
  LaunchStatus mask_async(DevicePtr to, DevicePtr from, std::uint64_t words, const MaskKey& key);
  /// Returns the clock rate that the last read_clock_async() measured on a multiprocessor. Call it
  /// after synchronize().
  LaunchResult<double> clock_mhz();

 private:
  // From `differ` on, the kernels access memory that others own.
  enum class Which : std::uint8_t { scrub, clock, touch, differ, mask, fill, copy };
  struct Loaded {
    std::string name;
    std::string image;
    std::uint32_t shared_bytes = 0;
    KernelHandle handle = 0;
  };

  explicit TrustedKernels(GpuDriver& gpu) : gpu_(&gpu) {}
  LaunchStatus refresh_from(Which first);
  LaunchStatus launch_async(Which which, const LaunchShape& shape,
                            std::span<const ParamValue> params);

  GpuDriver* gpu_;
  std::vector<Loaded> kernels_;  // indexed by Which
  DevicePtr reading_ = 0, touched_ = 0;
};

}  // namespace assay::sandbox
