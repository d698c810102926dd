// Declares the part of AMD's HIP API that the launcher uses: the table of functions, the facts of a
// device, and the meaning of the runtime's errors. These calls allocate no memory on the device.
//
//   Result<const HipApi*> api = open_hip_api();
//   Result<int> devices = count_devices(**api);
//   Result<DeviceFacts> facts = read_device_facts(**api, 0);
//
// The API is declared here so that Assay builds without ROCm and starts without its library:
// open_hip_api() loads libamdhip64. Names, values and signatures are those of the public "HIP
// Runtime API Reference" (rocm.docs.amd.com). tests/sandbox/launcher/driver/hip_api_test.cc
// compares the declarations with hip_runtime_api.h wherever that header exists. This code has never
// run on AMD hardware (docs/reference/launch-plan.md). The table does not change after it is
// loaded. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "base/result.h"
#include "sandbox/launcher/driver/gpu_driver.h"

namespace assay::sandbox::hip {

using HipResult = int;  // hipError_t
using HipDevice = int;
using HipStream = struct OpaqueHipStream*;
using HipEvent = struct OpaqueHipEvent*;
using HipModule = struct OpaqueHipModule*;
using HipFunction = struct OpaqueHipFunction*;
using HipMemHandle = struct OpaqueHipMemHandle*;

struct HipMemLocation {
  int type;
  int id;
};

struct HipMemAccessDesc {
  HipMemLocation location;
  int flags;
};

// Values of hipError_t.
inline constexpr HipResult kSuccess = 0;
inline constexpr HipResult kOutOfMemory = 2;
inline constexpr HipResult kNotInitialized = 3;
inline constexpr HipResult kDeinitialized = 4;
inline constexpr HipResult kNoDevice = 100;
inline constexpr HipResult kInvalidDevice = 101;
inline constexpr HipResult kEccNotCorrectable = 214;
inline constexpr HipResult kIllegalAddress = 700;
inline constexpr HipResult kLaunchTimeOut = 702;
inline constexpr HipResult kContextIsDestroyed = 709;
inline constexpr HipResult kAssert = 710;
inline constexpr HipResult kLaunchFailure = 719;
inline constexpr HipResult kUnknown = 999;

// Values of hipDeviceAttribute_t.
inline constexpr int kAttributeClockRate = 5;  // kHz
inline constexpr int kAttributeL2CacheSize = 19;
inline constexpr int kAttributeComputeCapabilityMajor = 23;
inline constexpr int kAttributeMemoryBusWidth = 59;   // bits
inline constexpr int kAttributeMemoryClockRate = 60;  // kHz
inline constexpr int kAttributeComputeCapabilityMinor = 61;
inline constexpr int kAttributeMultiprocessorCount = 63;
inline constexpr int kAttributePageableMemoryAccess = 65;
inline constexpr int kAttributeMaxSharedMemoryPerBlock = 74;
inline constexpr int kAttributeCanUseStreamWaitValue = 10013;

// The oldest version of HIP that is used (ROCm 6.0). hipDriverGetVersion() reports 10,000,000 for
// each major and 100,000 for each minor version. Older libraries have other values and layouts.
inline constexpr int kOldestVersion = 60'000'000;
// From this version of HIP on, hipMemImportFromShareableHandle() expects the number of a file
// descriptor as a pointer. Older versions expect the address of the number.
inline constexpr int kFirstDescriptorByValue = 70'100'000;  // HIP 7.1

// Values of hipFunction_attribute.
inline constexpr int kFunctionMaxThreadsPerBlock = 0;
inline constexpr int kFunctionSharedSizeBytes = 1;
inline constexpr int kFunctionLocalSizeBytes = 3;
inline constexpr int kFunctionNumRegs = 4;

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDefault = 0;
inline constexpr unsigned kMallocSignalMemory = 2;
inline constexpr unsigned kStreamWaitValueGte = 0;
inline constexpr int kHandleTypePosixFd = 1;  // hipMemAllocationHandleType
inline constexpr int kLocationDevice = 1;     // hipMemLocationType
inline constexpr int kAccessReadWrite = 3;    // hipMemAccessFlags
// Keys of a launch's `extra` list. The list has the form key, value, key, value, kLaunchParamEnd.
inline constexpr std::uintptr_t kLaunchParamBufferPointer = 1, kLaunchParamBufferSize = 2,
                                kLaunchParamEnd = 3;

/// Expands F(symbol, signature) for each function that the launcher uses. libamdhip64 exports the
/// symbol. The type of an address is void*.
// clang-format off
#define ASSAY_HIP_FUNCTIONS(F)                                                              \
  F(hipInit, HipResult(unsigned))                                                           \
  F(hipDriverGetVersion, HipResult(int*))                                                   \
  F(hipGetErrorName, const char*(HipResult))                                                \
  F(hipGetErrorString, const char*(HipResult))                                              \
  F(hipGetDeviceCount, HipResult(int*))                                                     \
  F(hipDeviceGet, HipResult(HipDevice*, int))                                               \
  F(hipDeviceGetName, HipResult(char*, int, HipDevice))                                     \
  F(hipDeviceGetAttribute, HipResult(int*, int, int))                                       \
  F(hipDeviceTotalMem, HipResult(std::size_t*, HipDevice))                                  \
  F(hipDeviceGetPCIBusId, HipResult(char*, int, int))                                       \
  F(hipSetDevice, HipResult(int))                                                           \
  F(hipMalloc, HipResult(void**, std::size_t))                                              \
  F(hipExtMallocWithFlags, HipResult(void**, std::size_t, unsigned))                        \
  F(hipFree, HipResult(void*))                                                              \
  F(hipMemImportFromShareableHandle, HipResult(HipMemHandle*, void*, int))                  \
  F(hipMemRelease, HipResult(HipMemHandle))                                                 \
  F(hipMemAddressReserve, HipResult(void**, std::size_t, std::size_t, void*, unsigned long long)) \
  F(hipMemAddressFree, HipResult(void*, std::size_t))                                       \
  F(hipMemMap, HipResult(void*, std::size_t, std::size_t, HipMemHandle, unsigned long long)) \
  F(hipMemUnmap, HipResult(void*, std::size_t))                                             \
  F(hipMemSetAccess, HipResult(void*, std::size_t, const HipMemAccessDesc*, std::size_t))   \
  F(hipMemcpyHtoDAsync, HipResult(void*, void*, std::size_t, HipStream))                    \
  F(hipMemcpyDtoHAsync, HipResult(void*, void*, std::size_t, HipStream))                    \
  F(hipMemcpyDtoDAsync, HipResult(void*, void*, std::size_t, HipStream))                    \
  F(hipMemsetD8Async, HipResult(void*, unsigned char, std::size_t, HipStream))              \
  F(hipMemsetD16Async, HipResult(void*, unsigned short, std::size_t, HipStream))            \
  F(hipMemsetD32Async, HipResult(void*, int, std::size_t, HipStream))                       \
  F(hipModuleLoadData, HipResult(HipModule*, const void*))                                  \
  F(hipModuleUnload, HipResult(HipModule))                                                  \
  F(hipModuleGetFunction, HipResult(HipFunction*, HipModule, const char*))                  \
  F(hipFuncGetAttribute, HipResult(int*, int, HipFunction))                                 \
  F(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, HipResult(int*, HipFunction, int, std::size_t)) \
  F(hipModuleLaunchKernel, HipResult(HipFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, HipStream, void**, void**)) \
  F(hipStreamCreateWithFlags, HipResult(HipStream*, unsigned))                              \
  F(hipStreamDestroy, HipResult(HipStream))                                                 \
  F(hipStreamSynchronize, HipResult(HipStream))                                             \
  F(hipStreamWaitValue32, HipResult(HipStream, void*, std::uint32_t, unsigned, std::uint32_t)) \
  F(hipEventCreateWithFlags, HipResult(HipEvent*, unsigned))                                \
  F(hipEventDestroy, HipResult(HipEvent))                                                   \
  F(hipEventRecord, HipResult(HipEvent, HipStream))                                         \
  F(hipEventElapsedTime, HipResult(float*, HipEvent, HipEvent))

/// The same for functions that older libraries lack. Without them, a feature is refused by name.
#define ASSAY_HIP_NEWER_FUNCTIONS(F)                                                        \
  F(hipModuleLaunchCooperativeKernel, HipResult(HipFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, HipStream, void**))
// clang-format on

/// The table of the library's functions.
struct HipApi {
#define ASSAY_HIP_MEMBER(symbol, ...) std::add_pointer_t<__VA_ARGS__> symbol = nullptr;
  ASSAY_HIP_FUNCTIONS(ASSAY_HIP_MEMBER)
  ASSAY_HIP_NEWER_FUNCTIONS(ASSAY_HIP_MEMBER)  // null if the library lacks the function
#undef ASSAY_HIP_MEMBER

  /// Returns the name and the text of a result, for example "hipErrorIllegalAddress (an illegal
  /// memory access was encountered)".
  std::string describe(HipResult result) const;
};

/// Loads libamdhip64 once for the life of the process. Does not initialise it, because the launcher
/// enters its jail between the two. Errors: `unavailable` if the library cannot be loaded, with the
/// loader's message; `unavailable` if an old ROCm lacks a function, with a message that names the
/// function. Both messages name the remedy.
Result<const HipApi*> open_hip_api();

/// Loads the first of these libraries that exists. The errors are those of open_hip_api().
Result<HipApi> load_hip_api(std::span<const char* const> libraries);

/// Loads the library and returns the library's folder. Returns /usr/lib if there is no library.
std::string library_folder();

/// Calls hipInit and returns the number of devices. Errors: `unavailable` if the library is older
/// than kOldestVersion; the message has its path, its version and the remedy. `unavailable` if
/// there is no device; the message says why, and names variables such as HIP_VISIBLE_DEVICES if
/// they are set.
Result<int> count_devices(const HipApi& api);

Result<DeviceFacts> read_device_facts(const HipApi& api, int index);

/// Decides whether the submission's device code, the launch or this launcher caused an error.
/// `result` must not be kSuccess. `doing` describes the call in the message.
LaunchError classify(const HipApi& api, HipResult result, const std::string& doing);

}  // namespace assay::sandbox::hip
