// Builds the jail of the launcher. The launcher is trusted, but the GPU's driver parses submitted
// binaries inside the launcher's process. A binary that takes control of the driver's user-space
// code gains little in the jail. The jail's only network interface is its own loopback interface.
// Its only files are the system's folders (such as /usr, /sys and /proc) and `libraries`. Its only
// devices are the GPU, null, zero and the random devices. The launcher has no capability.
//
//   Result<std::vector<LayerReport>> layers =
//       enter_launch_jail({.devices = {"/dev/nvidiactl"}, .keep_fd = socket});
//
// enter_launch_jail() changes the calling process permanently. Call it before the first thread
// starts and before the driver is initialised. The process stays in the supervisor's pid namespace,
// so the supervisor has a pidfd of the process that uses the GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/jail/layer.h"
#include "sandbox/jail/process_setup.h"

namespace assay::sandbox {

struct LaunchJail {
  bool strict = false;               // if true, a missing isolation layer is an error
  std::vector<std::string> devices;  // device files that the process may use
  // Folders of libraries that are not in the system's library folders.
  std::vector<std::string> libraries;
  int keep_fd = -1;      // the supervisor's socket
  int emulator_fd = -1;  // the emulator's socket; -1 if there is no emulator
  // True if a profiler or a sanitizer runs in the jail and starts the launcher. This tool and the
  // launcher communicate by named pipes in /tmp, and by TCP over the jail's own loopback interface.
  bool profile = false;
  // These limits are high enough for the threads and files of a driver.
  ResourceLimits limits{
      .processes = 1'024, .open_files = 4'096, .file_bytes = 1LL << 30, .data_bytes = 0};
};

/// Enters the jail and returns its isolation layers. The names of these layers begin with launch_.
/// Under strict isolation a missing layer is an error. A half-built root filesystem is always an
/// error. After an error the caller must exit.
Result<std::vector<LayerReport>> enter_launch_jail(const LaunchJail& config);

}  // namespace assay::sandbox
