// ColdState: makes a device as if nobody had used it, before each sample: buffers refilled, on-chip
// memory wiped, caches flushed.
//
//   ColdState cold(gpu);
//   cold.open();                       // room to flush with
//   cold.make(work);                   // waits: the device is idle afterwards
//
// Frees its room at its end. Not thread-safe.
#pragma once

#include <cstdint>

#include "sandbox/launcher/driver/gpu_driver.h"
#include "sandbox/launcher/timing/timing.h"

namespace assay::sandbox {

class ColdState {
 public:
  explicit ColdState(GpuDriver& gpu);
  ColdState(const ColdState&) = delete;
  ColdState& operator=(const ColdState&) = delete;
  ~ColdState();

  LaunchStatus open();
  LaunchStatus make(const TimedWork& work);
  /// Only the caches.
  LaunchStatus flush();

 private:
  GpuDriver& gpu_;
  std::uint64_t bytes_;
  DevicePtr memory_ = 0;
};

}  // namespace assay::sandbox
