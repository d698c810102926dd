// The emulated device performs launches in an emulator of AMD's machine code
// (sandbox/launcher/driver/emulated_driver.h), and judges the outputs on the CPU. It takes minutes
// for a kernel that takes microseconds on a GPU, and it measures nothing. Only trusted code may run
// on it, because the emulator is not in a jail. So make_device() needs
// SandboxConfig::allow_unjailed for it. `./run emulate-amd` uses it for the oracles.
#pragma once

#include <memory>

#include "base/result.h"
#include "sandbox/job/config.h"
#include "sandbox/job/device.h"

namespace assay::sandbox {

/// Errors: unavailable if the environment names no emulator.
Result<std::unique_ptr<Device>> make_emulated_device(const SandboxConfig& config);

}  // namespace assay::sandbox
