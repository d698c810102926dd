// Declares the part of the CUDA driver API that the launcher uses: the table of functions, the
// facts of devices and kernels, and the meaning of the driver's errors. Only read_kernel_facts()
// needs a CUDA context.
//
//   Result<const CudaApi*> api = open_cuda_api();
//   Result<int> devices = count_devices(**api);
//   Result<DeviceFacts> facts = read_device_facts(**api, 0);
//
// The API is declared here so that Assay builds without CUDA headers and starts without a driver:
// open_cuda_api() loads libcuda.so.1. Names, values and layouts are those of the public "CUDA
// Driver API" reference (docs.nvidia.com/cuda/cuda-driver-api). They are part of the ABI and do not
// change. The names that end in `_v2` are the current versions of calls whose old versions used
// 32-bit sizes. tests/sandbox/launcher/driver/cuda_api_test.cc compares the declarations with
// cuda.h wherever that header exists. The table does not change after it is loaded. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "base/result.h"
#include "sandbox/launcher/driver/gpu_driver.h"

namespace assay::sandbox::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = std::uint64_t;
using CUcontext = struct OpaqueContext*;
using CUlinkState = struct OpaqueLinkState*;
using CUmodule = struct OpaqueModule*;
using CUfunction = struct OpaqueFunction*;
using CUstream = struct OpaqueStream*;
using CUevent = struct OpaqueEvent*;
using CUmemGenericAllocationHandle = unsigned long long;

// Values of CUresult.
inline constexpr CUresult kSuccess = 0;
inline constexpr CUresult kInvalidValue = 1;
inline constexpr CUresult kOutOfMemory = 2;
inline constexpr CUresult kDeviceUnavailable = 46;
inline constexpr CUresult kNoDevice = 100;
inline constexpr CUresult kEccUncorrectable = 214;
inline constexpr CUresult kNvlinkUncorrectable = 220;
inline constexpr CUresult kIllegalAddress = 700;
inline constexpr CUresult kLaunchTimeout = 702;
inline constexpr CUresult kContextIsDestroyed = 709;
inline constexpr CUresult kAssert = 710;
inline constexpr CUresult kHardwareStackError = 714;
inline constexpr CUresult kIllegalInstruction = 715;
inline constexpr CUresult kMisalignedAddress = 716;
inline constexpr CUresult kInvalidAddressSpace = 717;
inline constexpr CUresult kInvalidPc = 718;
inline constexpr CUresult kLaunchFailed = 719;
inline constexpr CUresult kTensorMemoryLeak = 721;
inline constexpr CUresult kUnknown = 999;

// Values of CUdevice_attribute.
inline constexpr int kAttributeClockRate = 13;  // kHz
inline constexpr int kAttributeMultiprocessorCount = 16;
inline constexpr int kAttributeMemoryClockRate = 36;       // kHz
inline constexpr int kAttributeGlobalMemoryBusWidth = 37;  // bits
inline constexpr int kAttributeL2CacheSize = 38;           // bytes
inline constexpr int kAttributeComputeCapabilityMajor = 75;
inline constexpr int kAttributeComputeCapabilityMinor = 76;
inline constexpr int kAttributePageableMemoryAccess = 88;
inline constexpr int kAttributeMaxSharedMemoryPerBlockOptin = 97;

// Values of CUfunction_attribute.
inline constexpr int kFunctionMaxThreadsPerBlock = 0;
inline constexpr int kFunctionSharedSizeBytes = 1;
inline constexpr int kFunctionLocalSizeBytes = 3;
inline constexpr int kFunctionNumRegs = 4;
inline constexpr int kFunctionMaxDynamicSharedSizeBytes = 8;
inline constexpr int kFunctionNonPortableClusterSizeAllowed = 14;
inline constexpr int kCachePreferShared = 1;  // CUfunc_cache
inline constexpr int kJitInputPtx = 1;        // CUjitInputType

// Values of CUlaunchAttributeID, and the values of these attributes.
inline constexpr int kLaunchCooperative = 2;
inline constexpr int kLaunchClusterDimension = 4;
inline constexpr int kLaunchClusterSchedulingPolicyPreference = 5;
inline constexpr int kLaunchProgrammaticStreamSerialization = 6;
inline constexpr int kClusterSchedulingPolicySpread = 1;

// Values of CUtensorMapInterleave, CUtensorMapL2promotion and CUtensorMapFloatOOBfill.
inline constexpr int kTensorMapInterleaveNone = 0;
inline constexpr int kTensorMapL2Promotion128B = 2;
inline constexpr int kTensorMapFillNone = 0;
inline constexpr int kTensorMapFillNan = 1;

inline constexpr int kLimitStackSize = 0;          // CUlimit
inline constexpr unsigned kStreamNonBlocking = 1;  // CUstream_flags
inline constexpr unsigned kEventDefault = 0;       // CUevent_flags
inline constexpr unsigned kMemHostAllocDeviceMap = 2;
inline constexpr unsigned kWaitValueGeq = 0;  // CUstreamWaitValue_flags
inline constexpr int kHandleTypePosixFd = 1;  // CUmemAllocationHandleType
inline constexpr int kLocationDevice = 1;     // CUmemLocationType
inline constexpr int kAccessReadWrite = 3;    // CUmemAccess_flags

struct CUmemLocation {
  int type;
  int id;
};

struct CUmemAccessDesc {
  CUmemLocation location;
  int flags;
};

struct alignas(128) CUtensorMap {
  std::uint64_t opaque[16];
};

union CUlaunchAttributeValue {
  char pad[64];
  int cooperative;
  struct {
    unsigned x, y, z;
  } clusterDim;
  int clusterSchedulingPolicyPreference;
  int programmaticStreamSerializationAllowed;
};

struct CUlaunchAttribute {
  int id;
  char pad[4];
  CUlaunchAttributeValue value;
};

struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute* attrs;
  unsigned numAttrs;
};

/// Expands F(symbol, signature) for each function that the launcher uses. libcuda.so.1 exports the
/// symbol.
// clang-format off
#define ASSAY_CUDA_FUNCTIONS(F)                                                                      \
  F(cuInit, CUresult(unsigned))                                                                      \
  F(cuDriverGetVersion, CUresult(int*))                                                              \
  F(cuGetErrorName, CUresult(CUresult, const char**))                                                \
  F(cuGetErrorString, CUresult(CUresult, const char**))                                              \
  F(cuDeviceGet, CUresult(CUdevice*, int))                                                           \
  F(cuDeviceGetCount, CUresult(int*))                                                                \
  F(cuDeviceGetName, CUresult(char*, int, CUdevice))                                                 \
  F(cuDeviceGetAttribute, CUresult(int*, int, CUdevice))                                             \
  F(cuDeviceTotalMem_v2, CUresult(std::size_t*, CUdevice))                                           \
  F(cuDevicePrimaryCtxRetain, CUresult(CUcontext*, CUdevice))                                        \
  F(cuDevicePrimaryCtxRelease_v2, CUresult(CUdevice))                                                \
  F(cuCtxSetCurrent, CUresult(CUcontext))                                                            \
  F(cuCtxGetLimit, CUresult(std::size_t*, int))                                                      \
  F(cuCtxSetLimit, CUresult(int, std::size_t))                                                       \
  F(cuCtxResetPersistingL2Cache, CUresult())                                                         \
  F(cuMemAlloc_v2, CUresult(CUdeviceptr*, std::size_t))                                              \
  F(cuMemFree_v2, CUresult(CUdeviceptr))                                                             \
  F(cuMemImportFromShareableHandle, CUresult(CUmemGenericAllocationHandle*, void*, int))             \
  F(cuMemRelease, CUresult(CUmemGenericAllocationHandle))                                            \
  F(cuMemAddressReserve, CUresult(CUdeviceptr*, std::size_t, std::size_t, CUdeviceptr, unsigned long long)) \
  F(cuMemAddressFree, CUresult(CUdeviceptr, std::size_t))                                            \
  F(cuMemMap, CUresult(CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle, unsigned long long)) \
  F(cuMemUnmap, CUresult(CUdeviceptr, std::size_t))                                                  \
  F(cuMemSetAccess, CUresult(CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t))         \
  F(cuMemHostAlloc, CUresult(void**, std::size_t, unsigned))                                         \
  F(cuMemFreeHost, CUresult(void*))                                                                  \
  F(cuMemHostGetDevicePointer_v2, CUresult(CUdeviceptr*, void*, unsigned))                           \
  F(cuMemcpyHtoDAsync_v2, CUresult(CUdeviceptr, const void*, std::size_t, CUstream))                 \
  F(cuMemcpyDtoHAsync_v2, CUresult(void*, CUdeviceptr, std::size_t, CUstream))                       \
  F(cuMemcpyDtoDAsync_v2, CUresult(CUdeviceptr, CUdeviceptr, std::size_t, CUstream))                 \
  F(cuMemsetD8Async, CUresult(CUdeviceptr, unsigned char, std::size_t, CUstream))                    \
  F(cuMemsetD16Async, CUresult(CUdeviceptr, unsigned short, std::size_t, CUstream))                  \
  F(cuMemsetD32Async, CUresult(CUdeviceptr, unsigned, std::size_t, CUstream))                        \
  F(cuMemsetD2D32Async, CUresult(CUdeviceptr, std::size_t, unsigned, std::size_t, std::size_t, CUstream)) \
  F(cuLinkCreate_v2, CUresult(unsigned, int*, void**, CUlinkState*))                                 \
  F(cuLinkAddData_v2, CUresult(CUlinkState, int, void*, std::size_t, const char*, unsigned, int*, void**)) \
  F(cuLinkComplete, CUresult(CUlinkState, void**, std::size_t*))                                     \
  F(cuLinkDestroy, CUresult(CUlinkState))                                                            \
  F(cuModuleLoadData, CUresult(CUmodule*, const void*))                                              \
  F(cuModuleUnload, CUresult(CUmodule))                                                              \
  F(cuModuleGetFunction, CUresult(CUfunction*, CUmodule, const char*))                               \
  F(cuFuncGetAttribute, CUresult(int*, int, CUfunction))                                             \
  F(cuFuncSetAttribute, CUresult(CUfunction, int, int))                                              \
  F(cuFuncSetCacheConfig, CUresult(CUfunction, int))                                                 \
  F(cuFuncGetParamInfo, CUresult(CUfunction, std::size_t, std::size_t*, std::size_t*))               \
  F(cuLaunchKernelEx, CUresult(const CUlaunchConfig*, CUfunction, void**, void**))                   \
  F(cuTensorMapEncodeTiled, CUresult(CUtensorMap*, int, unsigned, void*, const std::uint64_t*, const std::uint64_t*, \
                                     const std::uint32_t*, const std::uint32_t*, int, int, int, int))         \
  F(cuStreamCreate, CUresult(CUstream*, unsigned))                                                   \
  F(cuStreamDestroy_v2, CUresult(CUstream))                                                          \
  F(cuStreamSynchronize, CUresult(CUstream))                                                         \
  F(cuStreamWaitValue32_v2, CUresult(CUstream, CUdeviceptr, std::uint32_t, unsigned))                \
  F(cuEventCreate, CUresult(CUevent*, unsigned))                                                     \
  F(cuEventDestroy_v2, CUresult(CUevent))                                                            \
  F(cuEventRecord, CUresult(CUevent, CUstream))                                                      \
  F(cuEventElapsedTime, CUresult(float*, CUevent, CUevent))
// clang-format on

/// The table of the library's functions.
struct CudaApi {
#define ASSAY_CUDA_MEMBER(symbol, ...) std::add_pointer_t<__VA_ARGS__> symbol = nullptr;
  ASSAY_CUDA_FUNCTIONS(ASSAY_CUDA_MEMBER)
#undef ASSAY_CUDA_MEMBER

  /// Returns the name and the text of a result, for example "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal
  /// memory access was encountered)".
  std::string describe(CUresult result) const;
};

/// Loads libcuda.so.1 once for the life of the process. Errors: `unavailable` if the library cannot
/// be loaded, with the loader's message; `unavailable` if an old driver lacks a function, with a
/// message that names the function.
Result<const CudaApi*> open_cuda_api();

/// Loads the library and returns the library's folder. Returns /usr/lib if there is no library.
std::string library_folder();

/// Calls cuInit and returns the number of devices. Errors: `unavailable` if there is no device; the
/// message says why.
Result<int> count_devices(const CudaApi& api);

Result<DeviceFacts> read_device_facts(const CudaApi& api, int index);

/// `doing` describes the call in the messages of errors.
LaunchResult<KernelFacts> read_kernel_facts(const CudaApi& api, CUfunction function,
                                            const std::string& doing);

/// Decides whether the submission's device code, the launch or this launcher caused an error.
/// `result` must not be kSuccess. `doing` describes the call in the message.
LaunchError classify(const CudaApi& api, CUresult result, const std::string& doing);

}  // namespace assay::sandbox::cuda
