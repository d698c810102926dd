// The jail of the launcher: trusted host code that gives submitted binaries to a GPU's driver,
// which parses them inside this process. Should one of them break the driver's user side, there is
// nothing to be had: no network, no files but system libraries, no device but the GPU's own, no
// capabilities.
//
//   Result<std::vector<LayerReport>> layers = enter_launch_jail({.devices = {"/dev/nvidiactl"},
//   .keep_fd = socket});
//
// Changes the calling process for good; before it has threads, and before the driver is
// initialised. It stays in the supervisor's pid namespace, so that the supervisor holds a pidfd of
// the very process that has the GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/jail/layer.h"
#include "sandbox/jail/process_setup.h"

namespace assay::sandbox {

struct LaunchJail {
  bool strict = false;                 // a missing layer is an error, not a report
  std::vector<std::string> devices;    // device files that it may use
  std::vector<std::string> libraries;  // folders of libraries outside the system's own
  int keep_fd = -1;                    // the supervisor's socket
  bool profile = false;  // a profiler will run in it, with a launcher below: they talk by named
                         // pipes in /tmp, and may by TCP over the jail's own loopback
  ResourceLimits limits{.processes = 1'024,
                        .open_files = 4'096,
                        .file_bytes = 1LL << 30,
                        .data_bytes = 0};  // threads of a driver, its files
};

/// Returns the layers, named launch_*; an error under strict isolation when one is missing, and
/// when half a root filesystem was built: the caller must end.
Result<std::vector<LayerReport>> enter_launch_jail(const LaunchJail& config);

}  // namespace assay::sandbox
