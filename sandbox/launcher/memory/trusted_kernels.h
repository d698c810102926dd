// Kernels of our own that run beside a submission's: one wipes what device memory does not show,
// one reads the clock, one has a known duration, one compares, one hides contents.
//
//   LaunchResult<TrustedKernels> ours = TrustedKernels::load(gpu);
//   ours->scrub_async();                       // shared memory of every multiprocessor, and most
//   registers: poisoned ours->read_clock_async();  gpu.synchronize();  LaunchResult<double> mhz =
//   ours->clock_mhz();
//
// Buffers are refilled before each sample and the L2 is flushed, but shared memory and registers
// keep what a kernel left in them, tens of megabytes on a large GPU: enough to hand an answer from
// one sample on to the next. They are PTX, compiled by the driver when a launcher starts, before
// there is a job for it. A device that cannot run them (the fake one) has none. Not thread-safe;
// the driver must outlive it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "sandbox/launcher/driver/gpu_driver.h"

namespace assay::sandbox {

using MaskKey = std::array<std::uint64_t, 2>;
inline constexpr std::uint64_t kMaskWordBytes = 8;

inline constexpr std::uint64_t kClockSpinNs =
    20'000;  // how long the clock is watched: its timer ticks in up to a microsecond

class TrustedKernels {
 public:
  static LaunchResult<TrustedKernels> load(GpuDriver& gpu);
  TrustedKernels(TrustedKernels&& other) noexcept;
  TrustedKernels& operator=(TrustedKernels&&) = delete;
  ~TrustedKernels();

  LaunchStatus scrub_async();
  LaunchStatus read_clock_async();
  /// A kernel that reads and writes a word in each of its threads, a block on every multiprocessor:
  /// kTouch*Ns of timing.cc is what it takes.
  LaunchStatus touch_async();
  /// Whether two ranges of device memory hold the same bytes; both 16-byte aligned. Waits.
  LaunchResult<bool> same(DevicePtr a, DevicePtr b, std::uint64_t bytes);
  /// to = from, masked or shown again (mask_text.h), in words of kMaskWordBytes; `to` may be
  /// `from`.
  LaunchStatus mask_async(DevicePtr to, DevicePtr from, std::uint64_t words, const MaskKey& key);
  /// Of the multiprocessor that ran the last read_clock_async(), after synchronize().
  LaunchResult<double> clock_mhz();

 private:
  explicit TrustedKernels(GpuDriver& gpu) : gpu_(&gpu) {}

  GpuDriver* gpu_;
  std::optional<KernelHandle> scrub_, clock_, touch_, differ_, mask_;
  DevicePtr reading_ = 0, touched_ = 0;
};

}  // namespace assay::sandbox
