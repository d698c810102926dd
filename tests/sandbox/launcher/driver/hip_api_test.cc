// Compares our own declarations of HIP's API with AMD's header, at compile time, wherever that
// header is installed (Debian: libamdhip64-dev).
#include "sandbox/launcher/driver/hip_api.h"

#include "sandbox/launcher/driver/hip_device.h"
#include "tests/catch.h"

#if __has_include(<hip/hip_runtime_api.h>)
#define __HIP_PLATFORM_AMD__ 1  // NOLINT: the header wants it
#define __HIP_DISABLE_CPP_FUNCTIONS__ \
  1  // NOLINT: templates beside hipMalloc, whose name would then be two functions
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wunused-result"
#include <hip/hip_runtime_api.h>
#define ASSAY_HAVE_HIP_H 1
#pragma GCC diagnostic pop
#endif

namespace ours = assay::sandbox::hip;

#ifdef ASSAY_HAVE_HIP_H

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
using namespace assay::sandbox::hip;  // NOLINT: the signatures in the list are written in its terms
ASSAY_HIP_FUNCTIONS(ASSAY_CHECK_CALL)
}  // namespace signatures
#undef ASSAY_CHECK_CALL

static_assert(ours::kSuccess == hipSuccess && ours::kOutOfMemory == hipErrorOutOfMemory &&
              ours::kNoDevice == hipErrorNoDevice);
static_assert(ours::kNotInitialized == hipErrorNotInitialized &&
              ours::kDeinitialized == hipErrorDeinitialized);
static_assert(ours::kEccNotCorrectable == hipErrorECCNotCorrectable &&
              ours::kIllegalAddress == hipErrorIllegalAddress);
static_assert(ours::kLaunchTimeOut == hipErrorLaunchTimeOut &&
              ours::kContextIsDestroyed == hipErrorContextIsDestroyed);
static_assert(ours::kAssert == hipErrorAssert && ours::kLaunchFailure == hipErrorLaunchFailure &&
              ours::kUnknown == hipErrorUnknown);
static_assert(ours::kAttributeClockRate == hipDeviceAttributeClockRate &&
              ours::kAttributeL2CacheSize == hipDeviceAttributeL2CacheSize);
static_assert(ours::kAttributeComputeCapabilityMajor == hipDeviceAttributeComputeCapabilityMajor);
static_assert(ours::kAttributeComputeCapabilityMinor == hipDeviceAttributeComputeCapabilityMinor);
static_assert(ours::kAttributeMemoryBusWidth == hipDeviceAttributeMemoryBusWidth &&
              ours::kAttributeMemoryClockRate == hipDeviceAttributeMemoryClockRate);
static_assert(ours::kAttributeMultiprocessorCount == hipDeviceAttributeMultiprocessorCount);
static_assert(ours::kAttributeMaxSharedMemoryPerBlock == hipDeviceAttributeMaxSharedMemoryPerBlock);
static_assert(ours::kAttributeCanUseStreamWaitValue == hipDeviceAttributeCanUseStreamWaitValue);
static_assert(ours::kFunctionMaxThreadsPerBlock == HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK &&
              ours::kFunctionNumRegs == HIP_FUNC_ATTRIBUTE_NUM_REGS);
static_assert(ours::kFunctionSharedSizeBytes == HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES &&
              ours::kFunctionLocalSizeBytes == HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
static_assert(ours::kStreamNonBlocking == hipStreamNonBlocking &&
              ours::kEventDefault == hipEventDefault);
static_assert(ours::kMallocSignalMemory == hipMallocSignalMemory &&
              ours::kStreamWaitValueGte == hipStreamWaitValueGte);

}  // namespace

TEST_CASE("the keys of a HIP launch are the header's") {
  CHECK(reinterpret_cast<std::uintptr_t>(HIP_LAUNCH_PARAM_BUFFER_POINTER) ==
        ours::kLaunchParamBufferPointer);
  CHECK(reinterpret_cast<std::uintptr_t>(HIP_LAUNCH_PARAM_BUFFER_SIZE) ==
        ours::kLaunchParamBufferSize);
  CHECK(reinterpret_cast<std::uintptr_t>(HIP_LAUNCH_PARAM_END) == ours::kLaunchParamEnd);
}

#endif

TEST_CASE("a result of HIP is somebody's fault") {
  using assay::sandbox::LaunchErrorKind;
  ours::HipApi api;
  api.hipGetErrorName = [](ours::HipResult) { return "NAME"; };
  api.hipGetErrorString = [](ours::HipResult) { return "words"; };
  CHECK(ours::classify(api, 2, "x").kind == LaunchErrorKind::gpu_memory_limit);
  for (const int fault : {700, 702, 710, 719})
    CHECK(ours::classify(api, fault, "x").kind == LaunchErrorKind::gpu_fault);
  for (const int refusal : {1, 200, 209, 500, 701, 720})
    CHECK(ours::classify(api, refusal, "x").kind == LaunchErrorKind::launch_failure);
  for (const int broken : {3, 4, 100, 214, 709, 999})
    CHECK(ours::classify(api, broken, "x").kind == LaunchErrorKind::internal_error);
  CHECK(ours::classify(api, 700, "running").message == "running: NAME (words)");
}

TEST_CASE(
    "the target is read from the kernel driver's description of the GPU at a place on the bus") {
  CHECK(ours::target_of_version(90402) == "hip:gfx942");
  CHECK(ours::target_of_version(90010) == "hip:gfx90a");
  CHECK(ours::target_of_version(110001) == "hip:gfx1101");
  const std::string properties =
      "cpu_cores_count 0\nsimd_count 1216\nlocation_id 49408\ndomain 0\ngfx_target_version 90402\n";
  CHECK(ours::version_at(properties, "0000:c1:00.0") == 90402);
  CHECK_FALSE(ours::version_at(properties, "0001:c1:00.0"));
  CHECK_FALSE(ours::version_at(properties, "0000:c2:00.0"));
  CHECK_FALSE(
      ours::version_at("location_id 49408\ndomain 0\ngfx_target_version 0\n", "0000:c1:00.0"));
  for (const char* broken : {"", "0000", "0000:c1", "0000:c1:00", "x:y:z.w"})
    CHECK_FALSE(ours::version_at(properties, broken));
}

TEST_CASE("without the library it is named") {
  const auto api = ours::open_hip_api();
  if (!api) CHECK(api.error().message.find("libamdhip64") != std::string::npos);
}
