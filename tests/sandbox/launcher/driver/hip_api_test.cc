// Compares Assay's declarations of HIP's API with AMD's header, on machines where the header is
// installed (Debian: libamdhip64-dev). Most comparisons happen at compile time. Also tests to what
// each error of HIP is attributed.
#include "sandbox/launcher/driver/hip_api.h"

#include <stdlib.h>

#include <string>

#include "tests/catch.h"
#include "tests/sandbox/launcher/driver/same_call.h"

#if __has_include(<hip/hip_runtime_api.h>)
#define __HIP_PLATFORM_AMD__ 1  // NOLINT: the header requires it
// This macro leaves out the header's templates, which overload hipMalloc.
#define __HIP_DISABLE_CPP_FUNCTIONS__ 1  // NOLINT
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

namespace hip_abi = assay::sandbox::hip;

#ifdef ASSAY_HAVE_HIP_H

namespace {

#define ASSAY_CHECK_CALL(symbol, ...) \
  static_assert(assay::sandbox::test::SameCall<__VA_ARGS__, decltype(::symbol)>::value, #symbol);
namespace hip_signatures {
using namespace assay::sandbox::hip;  // NOLINT: the list names its types
ASSAY_HIP_FUNCTIONS(ASSAY_CHECK_CALL)
#if HIP_VERSION_MAJOR >= 6
ASSAY_HIP_NEWER_FUNCTIONS(ASSAY_CHECK_CALL)
#endif
}  // namespace hip_signatures
#undef ASSAY_CHECK_CALL

static_assert(hip_abi::kSuccess == hipSuccess && hip_abi::kOutOfMemory == hipErrorOutOfMemory &&
              hip_abi::kNoDevice == hipErrorNoDevice &&
              hip_abi::kInvalidDevice == hipErrorInvalidDevice);
static_assert(hip_abi::kNotInitialized == hipErrorNotInitialized &&
              hip_abi::kDeinitialized == hipErrorDeinitialized);
static_assert(hip_abi::kEccNotCorrectable == hipErrorECCNotCorrectable &&
              hip_abi::kIllegalAddress == hipErrorIllegalAddress);
static_assert(hip_abi::kLaunchTimeOut == hipErrorLaunchTimeOut &&
              hip_abi::kContextIsDestroyed == hipErrorContextIsDestroyed);
static_assert(hip_abi::kAssert == hipErrorAssert &&
              hip_abi::kLaunchFailure == hipErrorLaunchFailure &&
              hip_abi::kUnknown == hipErrorUnknown);
static_assert(hip_abi::kAttributeClockRate == hipDeviceAttributeClockRate &&
              hip_abi::kAttributeL2CacheSize == hipDeviceAttributeL2CacheSize);
static_assert(hip_abi::kAttributeComputeCapabilityMajor ==
              hipDeviceAttributeComputeCapabilityMajor);
static_assert(hip_abi::kAttributeComputeCapabilityMinor ==
              hipDeviceAttributeComputeCapabilityMinor);
static_assert(hip_abi::kAttributeMemoryBusWidth == hipDeviceAttributeMemoryBusWidth &&
              hip_abi::kAttributeMemoryClockRate == hipDeviceAttributeMemoryClockRate);
static_assert(hip_abi::kAttributeMultiprocessorCount == hipDeviceAttributeMultiprocessorCount);
static_assert(hip_abi::kAttributePageableMemoryAccess == hipDeviceAttributePageableMemoryAccess);
static_assert(hip_abi::kAttributeMaxSharedMemoryPerBlock ==
              hipDeviceAttributeMaxSharedMemoryPerBlock);
static_assert(hip_abi::kAttributeCanUseStreamWaitValue == hipDeviceAttributeCanUseStreamWaitValue);
static_assert(hip_abi::kFunctionMaxThreadsPerBlock == HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK &&
              hip_abi::kFunctionNumRegs == HIP_FUNC_ATTRIBUTE_NUM_REGS);
static_assert(hip_abi::kFunctionSharedSizeBytes == HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES &&
              hip_abi::kFunctionLocalSizeBytes == HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
static_assert(hip_abi::kStreamNonBlocking == hipStreamNonBlocking &&
              hip_abi::kEventDefault == hipEventDefault);
static_assert(hip_abi::kMallocSignalMemory == hipMallocSignalMemory &&
              hip_abi::kStreamWaitValueGte == hipStreamWaitValueGte);
static_assert(hip_abi::kHandleTypePosixFd == hipMemHandleTypePosixFileDescriptor &&
              hip_abi::kLocationDevice == hipMemLocationTypeDevice &&
              hip_abi::kAccessReadWrite == hipMemAccessFlagsProtReadWrite);
static_assert(sizeof(hip_abi::HipMemAccessDesc) == sizeof(hipMemAccessDesc) &&
              offsetof(hip_abi::HipMemAccessDesc, flags) == offsetof(hipMemAccessDesc, flags) &&
              offsetof(hip_abi::HipMemLocation, id) == offsetof(hipMemLocation, id));

}  // namespace

TEST_CASE("the keys of a HIP launch are the header's") {
  CHECK(reinterpret_cast<std::uintptr_t>(HIP_LAUNCH_PARAM_BUFFER_POINTER) ==
        hip_abi::kLaunchParamBufferPointer);
  CHECK(reinterpret_cast<std::uintptr_t>(HIP_LAUNCH_PARAM_BUFFER_SIZE) ==
        hip_abi::kLaunchParamBufferSize);
  CHECK(reinterpret_cast<std::uintptr_t>(HIP_LAUNCH_PARAM_END) == hip_abi::kLaunchParamEnd);
}

#endif

TEST_CASE("each error of HIP is attributed to the submission, the launch or the launcher") {
  using assay::sandbox::LaunchErrorKind;
  hip_abi::HipApi api;
  api.hipGetErrorName = [](hip_abi::HipResult) { return "NAME"; };
  api.hipGetErrorString = [](hip_abi::HipResult) { return "words"; };
  CHECK(hip_abi::classify(api, 2, "x").kind == LaunchErrorKind::device_full);
  for (const int fault : {700, 702, 710, 719})
    CHECK(hip_abi::classify(api, fault, "x").kind == LaunchErrorKind::gpu_fault);
  for (const int refusal : {1, 200, 209, 500, 701, 720})
    CHECK(hip_abi::classify(api, refusal, "x").kind == LaunchErrorKind::launch_failure);
  for (const int broken : {3, 4, 100, 214, 709, 999})
    CHECK(hip_abi::classify(api, broken, "x").kind == LaunchErrorKind::internal_error);
  CHECK(hip_abi::classify(api, 700, "running").message == "running: NAME (words)");
}

TEST_CASE("the real HIP library has each function, and says why it finds no GPU") {
  const auto api = hip_abi::open_hip_api();
  if (!api) {
    WARN("not tested, because there is no HIP library: " << api.error().message);
    return;
  }
  // open_hip_api() has found each function. The calls below need no GPU.
  int version = 0;
  CHECK((*api)->hipDriverGetVersion(&version) == hip_abi::kSuccess);
  CHECK((*api)->describe(hip_abi::kNoDevice).find("hipErrorNoDevice") == 0);
  CHECK((*api)->describe(hip_abi::kIllegalAddress).find("hipErrorIllegalAddress") == 0);
  CHECK(hip_abi::library_folder().find("/lib") != std::string::npos);
  const auto counted = hip_abi::count_devices(**api);
  if (counted) return;  // this machine has an AMD GPU
  if (version < hip_abi::kOldestVersion) {
    CHECK(counted.error().message.find("the HIP runtime is too old: /") == 0);
    CHECK(counted.error().message.find("is HIP 5.") != std::string::npos);
    CHECK(counted.error().message.find("install ROCm 6.0 or newer") != std::string::npos);
  }
  // The same library, as if it were new enough, says that there is no GPU.
  hip_abi::HipApi newer = **api;
  newer.hipDriverGetVersion = [](int* one) {
    return *one = hip_abi::kOldestVersion, hip_abi::kSuccess;
  };
  const auto devices = hip_abi::count_devices(newer);
  REQUIRE_FALSE(devices);
  CHECK(devices.error().code == assay::ErrorCode::unavailable);
  CHECK(devices.error().message.find("the HIP runtime finds no AMD GPU") == 0);
}

TEST_CASE("a HIP library that is missing or too old is an error that names the remedy") {
  constexpr const char* kNone[] = {"libassay-no-such-a.so", "libassay-no-such-b.so"};
  const auto missing = hip_abi::load_hip_api(kNone);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message.find("libassay-no-such-b.so") != std::string::npos);
  CHECK(missing.error().message.find("install ROCm 6 or newer") != std::string::npos);
  constexpr const char* kOther[] = {"libassay-no-such-a.so", "libc.so.6"};
  const auto old = hip_abi::load_hip_api(kOther);
  REQUIRE_FALSE(old);
  CHECK(old.error().message.find("the HIP runtime is too old: libc.so.6 lacks hipInit") == 0);
  CHECK(old.error().message.find("install ROCm 6 or newer") != std::string::npos);
}

TEST_CASE("a runtime without GPUs names the variables that choose GPUs") {
  hip_abi::HipApi api;
  api.hipGetErrorName = [](hip_abi::HipResult) { return "NAME"; };
  api.hipGetErrorString = [](hip_abi::HipResult) { return "words"; };
  api.hipInit = [](unsigned) { return hip_abi::kSuccess; };
  api.hipDriverGetVersion = [](int*) { return hip_abi::kNoDevice; };
  api.hipGetDeviceCount = [](int* count) { return *count = 0, hip_abi::kSuccess; };
  const auto message = [&] { return hip_abi::count_devices(api).error().message; };
  CHECK(message() == "the HIP runtime sees no device");
  REQUIRE(::setenv("HIP_VISIBLE_DEVICES", "-1", 1) == 0);
  const std::string hint =
      "; the environment chooses GPUs by HIP_VISIBLE_DEVICES='-1': unset it, or name a GPU";
  CHECK(message() == "the HIP runtime sees no device" + hint);
  api.hipInit = [](unsigned) { return hip_abi::kNoDevice; };
  CHECK(message() == "the HIP runtime finds no AMD GPU: hipInit: NAME (words)" + hint);
  REQUIRE(::unsetenv("HIP_VISIBLE_DEVICES") == 0);
}

TEST_CASE("a HIP runtime is refused by its version if it is older than ROCm 6.0") {
  hip_abi::HipApi api;
  api.hipInit = [](unsigned) { return hip_abi::kSuccess; };
  api.hipGetDeviceCount = [](int* count) { return *count = 2, hip_abi::kSuccess; };
  api.hipDriverGetVersion = [](int* version) { return *version = 50'731'921, hip_abi::kSuccess; };
  const auto old = hip_abi::count_devices(api);
  REQUIRE_FALSE(old);
  CHECK(old.error().code == assay::ErrorCode::unavailable);
  CHECK(old.error().message.find("the HIP runtime is too old") == 0);
  CHECK(old.error().message.find("is HIP 5.7; install ROCm 6.0 or newer") != std::string::npos);
  // An old runtime may find no GPU because it does not know the GPU.
  api.hipInit = [](unsigned) { return hip_abi::kNoDevice; };
  CHECK(hip_abi::count_devices(api).error().message == old.error().message);
  api.hipInit = [](unsigned) { return hip_abi::kSuccess; };
  api.hipDriverGetVersion = [](int* version) { return *version = 60'032'830, hip_abi::kSuccess; };
  CHECK(hip_abi::count_devices(api).value() == 2);
}
