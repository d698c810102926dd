// The jail of the launcher. The launcher is trusted, but the GPU's driver parses submitted binaries
// inside its process. A binary that takes over the driver's user side finds nothing in the jail: no
// network, no files but system libraries, no device but its GPU, and no capabilities.
//
//   Result<std::vector<LayerReport>> layers =
//       enter_launch_jail({.devices = {"/dev/nvidiactl"}, .keep_fd = socket});
//
// It changes the calling process for good. Call it before the first thread and before the driver is
// initialised. The process stays in the supervisor's pid namespace, so that the supervisor holds a
// pidfd of the process that has the GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/jail/layer.h"
#include "sandbox/jail/process_setup.h"

namespace assay::sandbox {

struct LaunchJail {
  bool strict = false;                 // makes a missing layer an error
  std::vector<std::string> devices;    // device files that the process may use
  std::vector<std::string> libraries;  // folders of libraries outside the system's folders
  int keep_fd = -1;                    // the supervisor's socket
  // Set if a profiler runs in the jail and starts the launcher. The two use named pipes in /tmp,
  // and TCP over the jail's own loopback.
  bool profile = false;
  // Enough for the threads and files of a driver.
  ResourceLimits limits{
      .processes = 1'024, .open_files = 4'096, .file_bytes = 1LL << 30, .data_bytes = 0};
};

/// Returns the layers, which are named launch_*. A missing layer is an error under strict
/// isolation. A root filesystem that is only half built is always an error. After an error the
/// caller must end.
Result<std::vector<LayerReport>> enter_launch_jail(const LaunchJail& config);

}  // namespace assay::sandbox
