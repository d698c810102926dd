// Declares the calls of the CUDA driver API that the stand-in libraries for HIP need. The libraries
// load libcuda.so.1, so they can be built on a machine without CUDA. Types and values are those of
// sandbox/launcher/driver/cuda_api.h.
//
//   const CudaCalls& cuda = cuda_calls();
//   if (cuda.problem.empty()) cuda.cuInit(0);
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "sandbox/launcher/driver/cuda_api.h"

namespace assay::sandbox::hip_over_cuda {

using namespace cuda;  // NOLINT(google-build-using-namespace): the list below names its types

// clang-format off
#define ASSAY_CUDA_CALLS(F)                                                                 \
  F(cuInit, CUresult(unsigned))                                                             \
  F(cuDriverGetVersion, CUresult(int*))                                                     \
  F(cuGetErrorString, CUresult(CUresult, const char**))                                     \
  F(cuDeviceGet, CUresult(CUdevice*, int))                                                  \
  F(cuDeviceGetCount, CUresult(int*))                                                       \
  F(cuDeviceGetName, CUresult(char*, int, CUdevice))                                        \
  F(cuDeviceGetAttribute, CUresult(int*, int, CUdevice))                                    \
  F(cuDeviceGetPCIBusId, CUresult(char*, int, CUdevice))                                    \
  F(cuDeviceTotalMem_v2, CUresult(std::size_t*, CUdevice))                                  \
  F(cuDevicePrimaryCtxRetain, CUresult(CUcontext*, CUdevice))                               \
  F(cuCtxSetCurrent, CUresult(CUcontext))                                                   \
  F(cuMemAlloc_v2, CUresult(CUdeviceptr*, std::size_t))                                     \
  F(cuMemFree_v2, CUresult(CUdeviceptr))                                                    \
  F(cuMemCreate, CUresult(CUmemGenericAllocationHandle*, std::size_t, const void*, unsigned long long)) \
  F(cuMemExportToShareableHandle, CUresult(void*, CUmemGenericAllocationHandle, int, unsigned long long)) \
  F(cuMemGetAllocationGranularity, CUresult(std::size_t*, const void*, int))                \
  F(cuMemImportFromShareableHandle, CUresult(CUmemGenericAllocationHandle*, void*, int))    \
  F(cuMemRelease, CUresult(CUmemGenericAllocationHandle))                                   \
  F(cuMemAddressReserve, CUresult(CUdeviceptr*, std::size_t, std::size_t, CUdeviceptr, unsigned long long)) \
  F(cuMemAddressFree, CUresult(CUdeviceptr, std::size_t))                                   \
  F(cuMemMap, CUresult(CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle, unsigned long long)) \
  F(cuMemUnmap, CUresult(CUdeviceptr, std::size_t))                                         \
  F(cuMemSetAccess, CUresult(CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t)) \
  F(cuMemHostAlloc, CUresult(void**, std::size_t, unsigned))                                \
  F(cuMemFreeHost, CUresult(void*))                                                         \
  F(cuMemHostGetDevicePointer_v2, CUresult(CUdeviceptr*, void*, unsigned))                  \
  F(cuMemcpyHtoDAsync_v2, CUresult(CUdeviceptr, const void*, std::size_t, CUstream))        \
  F(cuMemcpyDtoHAsync_v2, CUresult(void*, CUdeviceptr, std::size_t, CUstream))              \
  F(cuMemcpyDtoDAsync_v2, CUresult(CUdeviceptr, CUdeviceptr, std::size_t, CUstream))        \
  F(cuMemsetD8Async, CUresult(CUdeviceptr, unsigned char, std::size_t, CUstream))           \
  F(cuMemsetD16Async, CUresult(CUdeviceptr, unsigned short, std::size_t, CUstream))         \
  F(cuMemsetD32Async, CUresult(CUdeviceptr, unsigned, std::size_t, CUstream))               \
  F(cuLinkCreate_v2, CUresult(unsigned, int*, void**, CUlinkState*))                        \
  F(cuLinkAddData_v2, CUresult(CUlinkState, int, void*, std::size_t, const char*, unsigned, int*, void**)) \
  F(cuLinkComplete, CUresult(CUlinkState, void**, std::size_t*))                            \
  F(cuLinkDestroy, CUresult(CUlinkState))                                                   \
  F(cuModuleLoadData, CUresult(CUmodule*, const void*))                                     \
  F(cuModuleUnload, CUresult(CUmodule))                                                     \
  F(cuModuleGetFunction, CUresult(CUfunction*, CUmodule, const char*))                      \
  F(cuFuncGetAttribute, CUresult(int*, int, CUfunction))                                    \
  F(cuFuncSetAttribute, CUresult(CUfunction, int, int))                                     \
  F(cuFuncSetCacheConfig, CUresult(CUfunction, int))                                        \
  F(cuLaunchKernel, CUresult(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**, void**)) \
  F(cuLaunchCooperativeKernel, CUresult(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**)) \
  F(cuOccupancyMaxActiveBlocksPerMultiprocessor, CUresult(int*, CUfunction, int, std::size_t)) \
  F(cuStreamCreate, CUresult(CUstream*, unsigned))                                          \
  F(cuStreamDestroy_v2, CUresult(CUstream))                                                 \
  F(cuStreamSynchronize, CUresult(CUstream))                                                \
  F(cuStreamWaitValue32_v2, CUresult(CUstream, CUdeviceptr, std::uint32_t, unsigned))       \
  F(cuEventCreate, CUresult(CUevent*, unsigned))                                            \
  F(cuEventDestroy_v2, CUresult(CUevent))                                                   \
  F(cuEventRecord, CUresult(CUevent, CUstream))                                             \
  F(cuEventElapsedTime, CUresult(float*, CUevent, CUevent))
// clang-format on

struct CudaCalls {
#define ASSAY_CUDA_CALL_MEMBER(symbol, ...) std::add_pointer_t<__VA_ARGS__> symbol = nullptr;
  ASSAY_CUDA_CALLS(ASSAY_CUDA_CALL_MEMBER)
#undef ASSAY_CUDA_CALL_MEMBER
  std::string problem;  // why libcuda.so.1 cannot be used; empty if it can
};

/// Loads libcuda.so.1 once for the life of the process.
const CudaCalls& cuda_calls();

}  // namespace assay::sandbox::hip_over_cuda
