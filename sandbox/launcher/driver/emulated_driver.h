// EmulatedDriver performs launches in an emulator of AMD's machine code, which is another process.
// The emulator and the launcher share the device's memory at the same addresses. So only loading
// and launching need the emulator (docs/explanation/amd.md describes the messages).
//
//   Result<EmulatorProcess> emulator = start_emulator("/opt/emulator", "hip:gfx942");
//   std::unique_ptr<GpuDriver> gpu = make_emulated_driver(std::move(*emulator));
//
// It measures nothing: every elapsed time is 0. The emulator is not in the launcher's jail, and
// device code can write to all of its memory. So only trusted code may run on it. Not thread-safe.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/launcher/driver/gpu_driver.h"

namespace assay::sandbox {

/// The environment variable that contains the absolute path of the emulator's program.
inline constexpr const char* kEmulatorVariable = "ASSAY_EMULATOR";
/// The environment variable that contains the target that the emulator executes.
inline constexpr const char* kEmulatorTargetVariable = "ASSAY_EMULATOR_TARGET";
inline constexpr const char* kEmulatorTarget = "hip:gfx942";  // if the variable is not set

/// A running emulator, and the memory that it shares with this process.
struct EmulatorProcess {
  UniqueFd socket;
  std::string name;    // what the emulator calls itself
  std::string target;  // "hip:gfx942"
};

/// Starts the emulator and waits until it is ready. Call it before the process enters its jail.
/// Errors: unavailable if the program does not start, or does not say that it is ready.
Result<EmulatorProcess> start_emulator(const std::string& program, const std::string& target);

/// Starts the emulator that the environment names. Error: unavailable if it names none.
Result<EmulatorProcess> start_emulator_of_environment();

std::unique_ptr<GpuDriver> make_emulated_driver(EmulatorProcess emulator);

}  // namespace assay::sandbox
