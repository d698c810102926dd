// Pristine: what a plan's buffers held before it ran, and how they get it back between timed runs: device code may write any of them.
//
//   Pristine pristine(gpu);
//   pristine.add(buffer, bytes);          // an input or a constant, from host memory
//   pristine.add_poisoned(scratch, n);    // everything else
//   pristine.write();                     // before the first run
//   pristine.keep_on_device();            // once, when the plan is going to be timed
//   pristine.restore_async();             // before each further run: device to device
//
// The host bytes are borrowed. Frees its copies at its end. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sandbox/launcher/gpu_driver.h"

namespace assay::sandbox {

class Pristine {
 public:
  Pristine(GpuDriver& gpu, std::uint8_t poison) : gpu_(gpu), poison_(poison) {}
  Pristine(const Pristine&) = delete;
  Pristine& operator=(const Pristine&) = delete;
  ~Pristine();

  void add(DevicePtr buffer, std::span<const std::byte> contents) { filled_.push_back({buffer, contents, 0}); }
  void add_poisoned(DevicePtr buffer, std::uint64_t bytes) { poisoned_.push_back({buffer, bytes}); }

  LaunchStatus write();
  /// Copies each content, from host memory since the buffers may have been written by now, to device memory of its own.
  /// A content that the device has no room for is restored from host memory instead.
  LaunchStatus keep_on_device();
  LaunchStatus restore_async();

 private:
  struct Filled {
    DevicePtr buffer;
    std::span<const std::byte> contents;
    DevicePtr copy;  // 0: none
  };
  struct Poisoned {
    DevicePtr buffer;
    std::uint64_t bytes;
  };
  LaunchStatus poison_async();

  GpuDriver& gpu_;
  std::uint8_t poison_;
  std::vector<Filled> filled_;
  std::vector<Poisoned> poisoned_;
};

}  // namespace assay::sandbox
