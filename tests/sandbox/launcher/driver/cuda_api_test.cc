// Compares Assay's declarations of the driver API with NVIDIA's header. The comparison happens at
// compile time, on machines where the header is installed. Also tests to what each error of the
// driver is attributed.
#include "sandbox/launcher/driver/cuda_api.h"

#include "tests/catch.h"
#include "tests/sandbox/launcher/driver/same_call.h"

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

namespace cuda_abi = assay::sandbox::cuda;

#ifdef ASSAY_HAVE_CUDA_H

namespace {

#define ASSAY_CHECK_CALL(symbol, ...) \
  static_assert(assay::sandbox::test::SameCall<__VA_ARGS__, decltype(::symbol)>::value, #symbol);
namespace cuda_signatures {
using namespace assay::sandbox::cuda;  // NOLINT: the list names its types
using cuda_abi::CUcontext;
using cuda_abi::CUdevice;
using cuda_abi::CUdeviceptr;
using cuda_abi::CUevent;
using cuda_abi::CUfunction;
using cuda_abi::CUlaunchConfig;
using cuda_abi::CUlinkState;
using cuda_abi::CUmemAccessDesc;
using cuda_abi::CUmemGenericAllocationHandle;
using cuda_abi::CUmodule;
using cuda_abi::CUresult;
using cuda_abi::CUstream;
using cuda_abi::CUtensorMap;
ASSAY_CUDA_FUNCTIONS(ASSAY_CHECK_CALL)
}  // namespace cuda_signatures
#undef ASSAY_CHECK_CALL

static_assert(cuda_abi::kJitInputPtx == CU_JIT_INPUT_PTX);
static_assert(cuda_abi::kHandleTypePosixFd == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR &&
              cuda_abi::kLocationDevice == CU_MEM_LOCATION_TYPE_DEVICE);
static_assert(cuda_abi::kAccessReadWrite == CU_MEM_ACCESS_FLAGS_PROT_READWRITE &&
              sizeof(cuda_abi::CUmemAccessDesc) == sizeof(::CUmemAccessDesc));
static_assert(cuda_abi::kSuccess == CUDA_SUCCESS &&
              cuda_abi::kInvalidValue == CUDA_ERROR_INVALID_VALUE &&
              cuda_abi::kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(cuda_abi::kDeviceUnavailable == CUDA_ERROR_DEVICE_UNAVAILABLE &&
              cuda_abi::kNoDevice == CUDA_ERROR_NO_DEVICE);
static_assert(cuda_abi::kEccUncorrectable == CUDA_ERROR_ECC_UNCORRECTABLE &&
              cuda_abi::kNvlinkUncorrectable == CUDA_ERROR_NVLINK_UNCORRECTABLE);
static_assert(cuda_abi::kIllegalAddress == CUDA_ERROR_ILLEGAL_ADDRESS &&
              cuda_abi::kLaunchTimeout == CUDA_ERROR_LAUNCH_TIMEOUT);
static_assert(cuda_abi::kContextIsDestroyed == CUDA_ERROR_CONTEXT_IS_DESTROYED &&
              cuda_abi::kAssert == CUDA_ERROR_ASSERT);
static_assert(cuda_abi::kHardwareStackError == CUDA_ERROR_HARDWARE_STACK_ERROR &&
              cuda_abi::kIllegalInstruction == CUDA_ERROR_ILLEGAL_INSTRUCTION);
static_assert(cuda_abi::kMisalignedAddress == CUDA_ERROR_MISALIGNED_ADDRESS &&
              cuda_abi::kInvalidAddressSpace == CUDA_ERROR_INVALID_ADDRESS_SPACE);
static_assert(cuda_abi::kInvalidPc == CUDA_ERROR_INVALID_PC &&
              cuda_abi::kLaunchFailed == CUDA_ERROR_LAUNCH_FAILED &&
              cuda_abi::kUnknown == CUDA_ERROR_UNKNOWN);
#if CUDA_VERSION >= 13000
static_assert(cuda_abi::kTensorMemoryLeak == CUDA_ERROR_TENSOR_MEMORY_LEAK);
#endif

static_assert(cuda_abi::kAttributeClockRate == CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
static_assert(cuda_abi::kAttributeMultiprocessorCount == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(cuda_abi::kAttributeMemoryClockRate == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
static_assert(cuda_abi::kAttributeGlobalMemoryBusWidth ==
              CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
static_assert(cuda_abi::kAttributeL2CacheSize == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
static_assert(cuda_abi::kAttributePageableMemoryAccess ==
              CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
static_assert(cuda_abi::kAttributeComputeCapabilityMajor ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(cuda_abi::kAttributeComputeCapabilityMinor ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(cuda_abi::kFunctionMaxThreadsPerBlock == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
static_assert(cuda_abi::kFunctionSharedSizeBytes == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES &&
              cuda_abi::kFunctionLocalSizeBytes == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
static_assert(cuda_abi::kFunctionNumRegs == CU_FUNC_ATTRIBUTE_NUM_REGS);
static_assert(cuda_abi::kFunctionMaxDynamicSharedSizeBytes ==
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(cuda_abi::kFunctionNonPortableClusterSizeAllowed ==
              CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
static_assert(cuda_abi::kCachePreferShared == CU_FUNC_CACHE_PREFER_SHARED);
static_assert(cuda_abi::kLaunchCooperative == CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
              cuda_abi::kLaunchClusterDimension == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
static_assert(sizeof(cuda_abi::CUtensorMap) == sizeof(::CUtensorMap) &&
              alignof(cuda_abi::CUtensorMap) >= alignof(::CUtensorMap));
static_assert(cuda_abi::kTensorMapInterleaveNone == CU_TENSOR_MAP_INTERLEAVE_NONE &&
              cuda_abi::kTensorMapL2Promotion128B == CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
static_assert(cuda_abi::kTensorMapFillNone == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
static_assert(cuda_abi::kTensorMapFillNan == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
static_assert(cuda_abi::kLaunchClusterSchedulingPolicyPreference ==
              CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
static_assert(cuda_abi::kLaunchProgrammaticStreamSerialization ==
              CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
static_assert(cuda_abi::kClusterSchedulingPolicySpread == CU_CLUSTER_SCHEDULING_POLICY_SPREAD);
static_assert(cuda_abi::kLimitStackSize == CU_LIMIT_STACK_SIZE);
static_assert(cuda_abi::kStreamNonBlocking == CU_STREAM_NON_BLOCKING &&
              cuda_abi::kEventDefault == CU_EVENT_DEFAULT);
static_assert(cuda_abi::kMemHostAllocDeviceMap == CU_MEMHOSTALLOC_DEVICEMAP &&
              cuda_abi::kWaitValueGeq == CU_STREAM_WAIT_VALUE_GEQ);

static_assert(sizeof(cuda_abi::CUlaunchAttributeValue) == sizeof(CUlaunchAttributeValue));
static_assert(sizeof(cuda_abi::CUlaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(cuda_abi::CUlaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(cuda_abi::CUlaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(cuda_abi::CUlaunchConfig, blockDimX) == offsetof(CUlaunchConfig, blockDimX));
static_assert(offsetof(cuda_abi::CUlaunchConfig, sharedMemBytes) ==
              offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(cuda_abi::CUlaunchConfig, hStream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(cuda_abi::CUlaunchConfig, attrs) == offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(cuda_abi::CUlaunchConfig, numAttrs) == offsetof(CUlaunchConfig, numAttrs));

}  // namespace

#endif

TEST_CASE(
    "each error of the CUDA driver is attributed to the submission, the launch or the launcher") {
  using assay::sandbox::LaunchErrorKind;
  cuda_abi::CudaApi api;
  api.cuGetErrorName = [](cuda_abi::CUresult, const char** text) -> cuda_abi::CUresult {
    return *text = "NAME", 0;
  };
  api.cuGetErrorString = [](cuda_abi::CUresult, const char** text) -> cuda_abi::CUresult {
    return *text = "words", 0;
  };
  CHECK(cuda_abi::classify(api, 2, "x").kind == LaunchErrorKind::device_full);
  for (const int fault : {700, 710, 714, 715, 716, 717, 718, 719})
    CHECK(cuda_abi::classify(api, fault, "x").kind == LaunchErrorKind::gpu_fault);
  for (const int refusal : {1, 200, 209, 500, 701, 720})
    CHECK(cuda_abi::classify(api, refusal, "x").kind == LaunchErrorKind::launch_failure);
  for (const int broken : {46, 100, 214, 999})
    CHECK(cuda_abi::classify(api, broken, "x").kind == LaunchErrorKind::internal_error);
  CHECK(cuda_abi::classify(api, 700, "running").message == "running: NAME (words)");
}
