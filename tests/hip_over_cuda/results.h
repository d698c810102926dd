// Translates results of CUDA's calls into results of HIP, for the stand-in library of runtime.cc.
//
//   HipResult result = result_of(cuda.cuInit(0));
//   const char* name = name_of(result);  // "hipSuccess"
//
// Thread-safe.
#pragma once

#include "sandbox/launcher/driver/hip_api.h"
#include "tests/hip_over_cuda/cuda_calls.h"

namespace assay::sandbox::hip {

/// Returns HIP's result for CUDA's. A fault that HIP has no number for is hipErrorLaunchFailure.
HipResult result_of(hip_over_cuda::CUresult result);

/// Returns the last error that result_of() has translated.
hip_over_cuda::CUresult last_error();

const char* name_of(HipResult result);

}  // namespace assay::sandbox::hip
