#include "tests/hip_over_cuda/results.h"

#include <atomic>

namespace assay::sandbox::hip {
namespace {

namespace cu = hip_over_cuda;

// Results that have the same number and the same meaning in both APIs.
constexpr HipResult kSameNumbers[] = {0,   1,   2,   3,   4,   100, 101, 200, 201, 209, 214, 218,
                                      300, 301, 302, 303, 304, 400, 500, 600, 700, 701, 702, 704,
                                      708, 709, 710, 712, 713, 719, 720, 800, 801, 999};
// Faults of device code that only CUDA tells apart.
constexpr cu::CUresult kOtherFaults[] = {cuda::kHardwareStackError, cuda::kIllegalInstruction,
                                         cuda::kMisalignedAddress,  cuda::kInvalidAddressSpace,
                                         cuda::kInvalidPc,          cuda::kTensorMemoryLeak};

struct ResultName {
  HipResult result;
  const char* name;
};
constexpr ResultName kNames[] = {{0, "hipSuccess"},
                                 {1, "hipErrorInvalidValue"},
                                 {2, "hipErrorOutOfMemory"},
                                 {3, "hipErrorNotInitialized"},
                                 {4, "hipErrorDeinitialized"},
                                 {100, "hipErrorNoDevice"},
                                 {101, "hipErrorInvalidDevice"},
                                 {200, "hipErrorInvalidImage"},
                                 {209, "hipErrorNoBinaryForGpu"},
                                 {214, "hipErrorECCNotCorrectable"},
                                 {500, "hipErrorNotFound"},
                                 {700, "hipErrorIllegalAddress"},
                                 {701, "hipErrorLaunchOutOfResources"},
                                 {702, "hipErrorLaunchTimeOut"},
                                 {709, "hipErrorContextIsDestroyed"},
                                 {710, "hipErrorAssert"},
                                 {719, "hipErrorLaunchFailure"},
                                 {801, "hipErrorNotSupported"}};

std::atomic<cu::CUresult> last{cu::kSuccess};

}  // namespace

HipResult result_of(cu::CUresult result) {
  if (result == cu::kSuccess) return kSuccess;
  last = result;
  for (const HipResult same : kSameNumbers) {
    if (same == result) return same;
  }
  for (const cu::CUresult fault : kOtherFaults) {
    if (fault == result) return kLaunchFailure;
  }
  return kUnknown;
}

cu::CUresult last_error() { return last; }

const char* name_of(HipResult result) {
  for (const ResultName& one : kNames) {
    if (one.result == result) return one.name;
  }
  return "hipErrorUnknown";
}

}  // namespace assay::sandbox::hip
