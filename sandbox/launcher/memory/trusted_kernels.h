// The trusted kernels, which the launcher runs between the kernels of a submission. One overwrites
// shared memory and registers, one reads the clock, one has a known duration, one compares memory,
// one masks memory.
//
//   LaunchResult<TrustedKernels> trusted = TrustedKernels::load(gpu);
//   LaunchStatus scrubbed = trusted->scrub_async();
//   LaunchStatus queued = trusted->read_clock_async();
//   LaunchStatus done = gpu.synchronize();
//   LaunchResult<double> mhz = trusted->clock_mhz();
//
// scrub_async() is needed because shared memory and registers keep the values that a kernel left
// there. They are tens of megabytes on a large GPU, enough to pass outputs from one sample to the
// next.
//
// The kernels are PTX. The driver compiles them when a launcher starts, before it has a job. The
// fake device cannot run them. Not thread-safe. The GpuDriver must outlive the object.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "sandbox/launcher/driver/gpu_driver.h"

namespace assay::sandbox {

using MaskKey = std::array<std::uint64_t, 2>;
inline constexpr std::uint64_t kMaskWordBytes = 8;

// How long a reading of the clock takes. The GPU's timer may tick only once a microsecond.
inline constexpr std::uint64_t kClockSpinNs = 20'000;

class TrustedKernels {
 public:
  static LaunchResult<TrustedKernels> load(GpuDriver& gpu);
  TrustedKernels(TrustedKernels&& other) noexcept;
  TrustedKernels& operator=(TrustedKernels&&) = delete;
  ~TrustedKernels();

  LaunchStatus scrub_async();
  LaunchStatus read_clock_async();
  /// Launches a kernel of known duration (kTouchColdNs and kTouchWarmNs in timing.h): each thread
  /// reads and writes one word, with one block on every multiprocessor.
  LaunchStatus touch_async();
  /// Returns true if two ranges of device memory hold the same bytes. Both are 16-byte aligned.
  /// Waits.
  LaunchResult<bool> same(DevicePtr a, DevicePtr b, std::uint64_t bytes);
  /// Copies `from` to `to` and masks or unmasks it (kMaskText), in words of kMaskWordBytes. `to`
  /// may be `from`.
  LaunchStatus mask_async(DevicePtr to, DevicePtr from, std::uint64_t words, const MaskKey& key);
  /// Returns the clock of the multiprocessor that ran the last read_clock_async(). Call it after
  /// synchronize().
  LaunchResult<double> clock_mhz();

 private:
  explicit TrustedKernels(GpuDriver& gpu) : gpu_(&gpu) {}

  GpuDriver* gpu_;
  std::optional<KernelHandle> scrub_, clock_, touch_, differ_, mask_;
  DevicePtr reading_ = 0, touched_ = 0;
};

}  // namespace assay::sandbox
