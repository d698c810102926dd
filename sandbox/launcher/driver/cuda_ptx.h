// Compiles PTX with the compiler of the CUDA driver.
//
//   LaunchResult<std::string> image = compile_ptx(api, text);
//   // cuModuleLoadData() loads the image without compiling.
//
// A context must be current. Thread-safe.
#pragma once

#include <string>

#include "sandbox/launcher/driver/cuda_api.h"

namespace assay::sandbox::cuda {

/// Returns an image (cubin) for the device of the current context. Errors: launch_failure if the
/// text is wrong.
LaunchResult<std::string> compile_ptx(const CudaApi& api, std::string ptx);

}  // namespace assay::sandbox::cuda
