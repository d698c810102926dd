// A device by its name. Add a device by adding a file and a line in make_device().
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/job/device.h"

namespace assay::sandbox {

/// `name`: "cpu", "cuda:N", "fake". Unknown names are errors that list the valid ones. Starts
/// warming up at once and returns without waiting for it.
Result<std::unique_ptr<Device>> make_device(const std::string& name, const SandboxConfig& config);

}  // namespace assay::sandbox
