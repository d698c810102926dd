// Compiles HIP C++ with hipRTC, the run-time compiler of ROCm. The library is loaded on demand:
// libhiprtc of ROCm 6 and newer, or the HIP runtime itself, which contained hipRTC before.
//
//   LaunchResult<std::string> image = hip::compile_text(text, "hip:gfx942");
//
// It has never compiled for AMD hardware in use (docs/explanation/amd.md). Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sandbox/launcher/driver/launch_result.h"

namespace assay::sandbox::hip {

/// Loads hipRTC. Call it before the process enters its jail. Error: unavailable, with the loader's
/// message and the remedy.
Status open_hip_rtc();

/// Returns the code object of a HIP C++ text for `target`. Errors: internal_error if hipRTC cannot
/// be loaded or refuses the text; the message contains the compiler's log.
LaunchResult<std::string> compile_text(std::string_view text, const std::string& target);

}  // namespace assay::sandbox::hip
