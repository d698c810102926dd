// Compares our own declarations of the driver API with NVIDIA's header, at compile time, wherever
// that header is installed.
#include "sandbox/launcher/driver/cuda_api.h"

#include "sandbox/launcher/driver/cuda_device.h"
#include "tests/catch.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#if __has_include(<cuda.h>)
#include <cuda.h>
#define ASSAY_HAVE_CUDA_H 1
#elif __has_include("/usr/local/cuda/include/cuda.h")
#include "/usr/local/cuda/include/cuda.h"
#define ASSAY_HAVE_CUDA_H 1
#endif
#pragma GCC diagnostic pop

namespace ours = assay::sandbox::cuda;

#ifdef ASSAY_HAVE_CUDA_H

namespace {

/// Enumerations travel as int, handles as pointers; what must agree is what a register holds.
template <class A, class B>
constexpr bool same_register =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;

template <class A, class B>
struct SameCall : std::false_type {};
template <class R1, class... A1, class R2, class... A2>
requires(sizeof...(A1) == sizeof...(A2)) struct SameCall<R1(A1...), R2(A2...)>
    : std::bool_constant<same_register<R1, R2> && (same_register<A1, A2> && ...)> {
};

#define ASSAY_CHECK_CALL(symbol, ...) \
  static_assert(SameCall<__VA_ARGS__, decltype(::symbol)>::value, #symbol);
namespace signatures {
using namespace assay::sandbox::cuda;  // NOLINT: the signatures in the list are written in its
                                       // terms
using ours::CUcontext;
using ours::CUdevice;
using ours::CUdeviceptr;
using ours::CUevent;
using ours::CUfunction;
using ours::CUlaunchConfig;
using ours::CUmemAccessDesc;
using ours::CUmemGenericAllocationHandle;
using ours::CUmodule;
using ours::CUresult;
using ours::CUstream;
using ours::CUtensorMap;
ASSAY_CUDA_FUNCTIONS(ASSAY_CHECK_CALL)
}  // namespace signatures
#undef ASSAY_CHECK_CALL

static_assert(ours::kHandleTypePosixFd == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR &&
              ours::kLocationDevice == CU_MEM_LOCATION_TYPE_DEVICE);
static_assert(ours::kAccessReadWrite == CU_MEM_ACCESS_FLAGS_PROT_READWRITE &&
              sizeof(ours::CUmemAccessDesc) == sizeof(::CUmemAccessDesc));
static_assert(ours::kSuccess == CUDA_SUCCESS && ours::kInvalidValue == CUDA_ERROR_INVALID_VALUE &&
              ours::kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(ours::kDeviceUnavailable == CUDA_ERROR_DEVICE_UNAVAILABLE &&
              ours::kNoDevice == CUDA_ERROR_NO_DEVICE);
static_assert(ours::kEccUncorrectable == CUDA_ERROR_ECC_UNCORRECTABLE &&
              ours::kNvlinkUncorrectable == CUDA_ERROR_NVLINK_UNCORRECTABLE);
static_assert(ours::kIllegalAddress == CUDA_ERROR_ILLEGAL_ADDRESS &&
              ours::kLaunchTimeout == CUDA_ERROR_LAUNCH_TIMEOUT);
static_assert(ours::kContextIsDestroyed == CUDA_ERROR_CONTEXT_IS_DESTROYED &&
              ours::kAssert == CUDA_ERROR_ASSERT);
static_assert(ours::kHardwareStackError == CUDA_ERROR_HARDWARE_STACK_ERROR &&
              ours::kIllegalInstruction == CUDA_ERROR_ILLEGAL_INSTRUCTION);
static_assert(ours::kMisalignedAddress == CUDA_ERROR_MISALIGNED_ADDRESS &&
              ours::kInvalidAddressSpace == CUDA_ERROR_INVALID_ADDRESS_SPACE);
static_assert(ours::kInvalidPc == CUDA_ERROR_INVALID_PC &&
              ours::kLaunchFailed == CUDA_ERROR_LAUNCH_FAILED &&
              ours::kUnknown == CUDA_ERROR_UNKNOWN);
#if CUDA_VERSION >= 13000
static_assert(ours::kTensorMemoryLeak == CUDA_ERROR_TENSOR_MEMORY_LEAK);
#endif

static_assert(ours::kAttributeClockRate == CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
static_assert(ours::kAttributeMultiprocessorCount == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(ours::kAttributeMemoryClockRate == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
static_assert(ours::kAttributeGlobalMemoryBusWidth == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
static_assert(ours::kAttributeL2CacheSize == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
static_assert(ours::kAttributeComputeCapabilityMajor ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(ours::kAttributeComputeCapabilityMinor ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(ours::kFunctionMaxThreadsPerBlock == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
static_assert(ours::kFunctionSharedSizeBytes == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES &&
              ours::kFunctionLocalSizeBytes == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
static_assert(ours::kFunctionNumRegs == CU_FUNC_ATTRIBUTE_NUM_REGS);
static_assert(ours::kFunctionMaxDynamicSharedSizeBytes ==
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(ours::kFunctionNonPortableClusterSizeAllowed ==
              CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
static_assert(ours::kCachePreferShared == CU_FUNC_CACHE_PREFER_SHARED);
static_assert(ours::kLaunchCooperative == CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
              ours::kLaunchClusterDimension == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
static_assert(sizeof(ours::CUtensorMap) == sizeof(::CUtensorMap) &&
              alignof(ours::CUtensorMap) >= alignof(::CUtensorMap));
static_assert(ours::kTensorMapInterleaveNone == CU_TENSOR_MAP_INTERLEAVE_NONE &&
              ours::kTensorMapL2Promotion128B == CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
static_assert(ours::kTensorMapFillNone == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
static_assert(ours::kTensorMapFillNan == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
static_assert(ours::kLaunchClusterSchedulingPolicyPreference ==
              CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
static_assert(ours::kLaunchProgrammaticStreamSerialization ==
              CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
static_assert(ours::kClusterSchedulingPolicySpread == CU_CLUSTER_SCHEDULING_POLICY_SPREAD);
static_assert(ours::kStreamNonBlocking == CU_STREAM_NON_BLOCKING &&
              ours::kEventDefault == CU_EVENT_DEFAULT);
static_assert(ours::kMemHostAllocDeviceMap == CU_MEMHOSTALLOC_DEVICEMAP &&
              ours::kWaitValueGeq == CU_STREAM_WAIT_VALUE_GEQ);

static_assert(sizeof(ours::CUlaunchAttributeValue) == sizeof(CUlaunchAttributeValue));
static_assert(sizeof(ours::CUlaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(ours::CUlaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(ours::CUlaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(ours::CUlaunchConfig, blockDimX) == offsetof(CUlaunchConfig, blockDimX));
static_assert(offsetof(ours::CUlaunchConfig, sharedMemBytes) ==
              offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(ours::CUlaunchConfig, hStream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(ours::CUlaunchConfig, attrs) == offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(ours::CUlaunchConfig, numAttrs) == offsetof(CUlaunchConfig, numAttrs));

}  // namespace

#endif

TEST_CASE("a result of the driver is somebody's fault") {
  using assay::sandbox::LaunchErrorKind;
  ours::CudaApi api;
  api.cuGetErrorName = [](ours::CUresult, const char** text) -> ours::CUresult {
    return *text = "NAME", 0;
  };
  api.cuGetErrorString = [](ours::CUresult, const char** text) -> ours::CUresult {
    return *text = "words", 0;
  };
  CHECK(ours::classify(api, 2, "x").kind == LaunchErrorKind::gpu_memory_limit);
  for (const int fault : {700, 710, 714, 715, 716, 717, 718, 719})
    CHECK(ours::classify(api, fault, "x").kind == LaunchErrorKind::gpu_fault);
  for (const int refusal : {1, 200, 209, 500, 701, 720})
    CHECK(ours::classify(api, refusal, "x").kind == LaunchErrorKind::launch_failure);
  for (const int broken : {46, 100, 214, 999})
    CHECK(ours::classify(api, broken, "x").kind == LaunchErrorKind::internal_error);
  CHECK(ours::classify(api, 700, "running").message == "running: NAME (words)");
}
