// ColdState: puts a device into the same cold state before each sample. It refills the buffers,
// overwrites on-chip memory and flushes the caches.
//
//   ColdState cold(gpu);
//   cold.open();                       // allocates memory to flush the L2 with
//   cold.make(work);                   // waits: the device is idle afterwards
//
// The destructor frees the memory. Not thread-safe.
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
  /// Flushes the caches only.
  LaunchStatus flush();

 private:
  GpuDriver& gpu_;
  std::uint64_t bytes_;
  DevicePtr memory_ = 0;
};

}  // namespace assay::sandbox
