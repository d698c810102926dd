// A stand-in for AMD's HIP runtime (libamdhip64) that passes each call on to the CUDA driver. With
// it, the launcher's HIP driver performs launch plans on an NVIDIA GPU (docs/explanation/amd.md).
//
// It has exactly the functions that the launcher loads (ASSAY_HIP_FUNCTIONS,
// ASSAY_HIP_NEWER_FUNCTIONS), whose signatures the end of this file checks, and those through which
// the judge shares memory (sandbox/harness/wire/device_memory.py). It departs from AMD's runtime
// where CUDA has no counterpart:
// - A pointer to signal memory is a pointer to mapped host memory.
// - A fault of CUDA that HIP has no number for is hipErrorLaunchFailure.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "sandbox/launcher/driver/hip_api.h"
#include "tests/hip_over_cuda/cuda_calls.h"
#include "tests/hip_over_cuda/results.h"

#define ASSAY_EXPORT extern "C" __attribute__((visibility("default")))

namespace assay::sandbox::hip {
namespace {

using hip_over_cuda::cuda_calls;
namespace cu = hip_over_cuda;

constexpr HipResult kInvalidValueOfHip = 1, kNotSupported = 801;
// A kernel that uses more shared memory than this must opt in, in CUDA but not in HIP.
constexpr int kSharedWithoutOptInBytes = 48 << 10;
// The version that the library reports: the first one that takes descriptors as CUDA does.
constexpr int kVersion = kFirstDescriptorByValue;
constexpr std::uint32_t kEveryBit = 0xFFFFFFFF;
constexpr std::string_view kNode = "nvidia";  // begins the name of a GPU's device file

struct FunctionState {
  int static_shared_bytes = 0;
  int allowed_shared_bytes = 0;  // dynamic bytes for which the function has opted in
};

struct Runtime {
  std::mutex mutex;
  std::map<HipFunction, FunctionState> functions;
  std::set<void*> signals;  // memory of hipExtMallocWithFlags
};

Runtime& runtime() {
  static Runtime& one = *new Runtime;  // never destroyed, because exit handlers may use it
  return one;
}

cu::CUdeviceptr address(void* memory) { return reinterpret_cast<cu::CUdeviceptr>(memory); }
cu::CUstream stream_of(HipStream stream) { return reinterpret_cast<cu::CUstream>(stream); }
cu::CUevent event_of(HipEvent event) { return reinterpret_cast<cu::CUevent>(event); }
cu::CUfunction function_of(HipFunction function) {
  return reinterpret_cast<cu::CUfunction>(function);
}

cu::CUmemGenericAllocationHandle memory_of(HipMemHandle handle) {
  return reinterpret_cast<cu::CUmemGenericAllocationHandle>(handle);
}

/// Loads libcuda.so.1 together with this library. A launcher loads this library before it enters
/// its jail, and the jail shows no other folders.
__attribute__((constructor)) void load_cuda() { cuda_calls(); }

/// Lets a function use `bytes` bytes of dynamic shared memory, as HIP does without being asked.
/// The CUDA driver of the launcher prefers shared memory over L1 in the same cases.
cu::CUresult allow_shared_bytes(HipFunction function, int bytes) {
  const std::lock_guard lock(runtime().mutex);
  FunctionState& state = runtime().functions[function];
  if (state.static_shared_bytes + bytes <= kSharedWithoutOptInBytes ||
      bytes <= state.allowed_shared_bytes)
    return cu::kSuccess;
  const cu::CudaCalls& cuda = cuda_calls();
  if (const cu::CUresult set =
          cuda.cuFuncSetCacheConfig(function_of(function), cuda::kCachePreferShared);
      set != cu::kSuccess)
    return set;
  const cu::CUresult set = cuda.cuFuncSetAttribute(function_of(function),
                                                   cuda::kFunctionMaxDynamicSharedSizeBytes, bytes);
  if (set == cu::kSuccess) state.allowed_shared_bytes = bytes;
  return set;
}

/// Sets CUDA_VISIBLE_DEVICES to 0 if only one GPU has a device file. In the launcher's jail the GPU
/// is number 0 for CUDA, whatever number chose it outside. The launcher corrects the number itself
/// only for its CUDA driver.
void count_visible_gpus() {
  const char* chosen = std::getenv("CUDA_VISIBLE_DEVICES");
  if (chosen == nullptr || *chosen == '\0') return;
  int gpus = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator file("/dev", error), end; !error && file != end;
       file.increment(error)) {
    const std::string name = file->path().filename();
    if (name.size() > kNode.size() && name.starts_with(kNode) &&
        name.find_first_not_of("0123456789", kNode.size()) == std::string::npos)
      ++gpus;
  }
  if (gpus == 1) ::setenv("CUDA_VISIBLE_DEVICES", "0", 1);
}

}  // namespace

ASSAY_EXPORT HipResult hipInit(unsigned flags) {
  if (!cuda_calls().problem.empty()) return kNoDevice;
  count_visible_gpus();
  // The launcher's CUDA driver sets the same variables (sandbox/launcher/driver/cuda_api.cc).
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);
  return result_of(cuda_calls().cuInit(flags));
}
ASSAY_EXPORT HipResult hipDriverGetVersion(int* version) {
  if (!cuda_calls().problem.empty()) return kNoDevice;
  return *version = kVersion, kSuccess;
}
ASSAY_EXPORT const char* hipGetErrorName(HipResult result) { return name_of(result); }
ASSAY_EXPORT const char* hipGetErrorString(HipResult result) {
  const char* text = nullptr;
  if (!cuda_calls().problem.empty()) return cuda_calls().problem.c_str();
  const cu::CUresult last = last_error();
  if (result == kSuccess || last == cu::kSuccess ||
      cuda_calls().cuGetErrorString(last, &text) != cu::kSuccess || text == nullptr)
    return hipGetErrorName(result);
  return text;
}

ASSAY_EXPORT HipResult hipGetDeviceCount(int* count) {
  return result_of(cuda_calls().cuDeviceGetCount(count));
}
ASSAY_EXPORT HipResult hipDeviceGet(HipDevice* device, int index) {
  return result_of(cuda_calls().cuDeviceGet(device, index));
}
ASSAY_EXPORT HipResult hipDeviceGetName(char* name, int room, HipDevice device) {
  return result_of(cuda_calls().cuDeviceGetName(name, room, device));
}
ASSAY_EXPORT HipResult hipDeviceGetAttribute(int* value, int attribute, int index) {
  int wanted = 0;
  switch (attribute) {
    case kAttributeClockRate: wanted = cuda::kAttributeClockRate; break;
    case kAttributeL2CacheSize: wanted = cuda::kAttributeL2CacheSize; break;
    case kAttributeComputeCapabilityMajor: wanted = cuda::kAttributeComputeCapabilityMajor; break;
    case kAttributeComputeCapabilityMinor: wanted = cuda::kAttributeComputeCapabilityMinor; break;
    case kAttributeMemoryBusWidth: wanted = cuda::kAttributeGlobalMemoryBusWidth; break;
    case kAttributeMemoryClockRate: wanted = cuda::kAttributeMemoryClockRate; break;
    case kAttributeMultiprocessorCount: wanted = cuda::kAttributeMultiprocessorCount; break;
    case kAttributePageableMemoryAccess: wanted = cuda::kAttributePageableMemoryAccess; break;
    case kAttributeMaxSharedMemoryPerBlock:
      wanted = cuda::kAttributeMaxSharedMemoryPerBlockOptin;
      break;
    case kAttributeCanUseStreamWaitValue: *value = 1; return kSuccess;
    default: return kInvalidValueOfHip;
  }
  cu::CUdevice device = 0;
  if (const cu::CUresult got = cuda_calls().cuDeviceGet(&device, index); got != cu::kSuccess)
    return result_of(got);
  return result_of(cuda_calls().cuDeviceGetAttribute(value, wanted, device));
}
ASSAY_EXPORT HipResult hipDeviceTotalMem(std::size_t* bytes, HipDevice device) {
  return result_of(cuda_calls().cuDeviceTotalMem_v2(bytes, device));
}
ASSAY_EXPORT HipResult hipDeviceGetPCIBusId(char* place, int room, int index) {
  cu::CUdevice device = 0;
  if (const cu::CUresult got = cuda_calls().cuDeviceGet(&device, index); got != cu::kSuccess)
    return result_of(got);
  return result_of(cuda_calls().cuDeviceGetPCIBusId(place, room, device));
}
ASSAY_EXPORT HipResult hipSetDevice(int index) {
  cu::CUdevice device = 0;
  cu::CUcontext context = nullptr;
  cu::CUresult result = cuda_calls().cuDeviceGet(&device, index);
  if (result == cu::kSuccess) result = cuda_calls().cuDevicePrimaryCtxRetain(&context, device);
  if (result == cu::kSuccess) result = cuda_calls().cuCtxSetCurrent(context);
  return result_of(result);
}

ASSAY_EXPORT HipResult hipMalloc(void** memory, std::size_t bytes) {
  cu::CUdeviceptr made = 0;
  const cu::CUresult result = cuda_calls().cuMemAlloc_v2(&made, bytes);
  *memory = reinterpret_cast<void*>(made);  // NOLINT(performance-no-int-to-ptr)
  return result_of(result);
}
ASSAY_EXPORT HipResult hipExtMallocWithFlags(void** memory, std::size_t bytes, unsigned flags) {
  if (flags != kMallocSignalMemory) return kNotSupported;
  const cu::CUresult result =
      cuda_calls().cuMemHostAlloc(memory, bytes, cuda::kMemHostAllocDeviceMap);
  if (result != cu::kSuccess) return result_of(result);
  cu::CUdeviceptr on_device = 0;
  if (cuda_calls().cuMemHostGetDevicePointer_v2(&on_device, *memory, 0) != cu::kSuccess ||
      on_device != address(*memory)) {
    cuda_calls().cuMemFreeHost(*memory);
    return kNotSupported;
  }
  const std::lock_guard lock(runtime().mutex);
  runtime().signals.insert(*memory);
  return kSuccess;
}
ASSAY_EXPORT HipResult hipFree(void* memory) {
  bool is_signal = false;
  {
    const std::lock_guard lock(runtime().mutex);
    is_signal = runtime().signals.erase(memory) > 0;
  }
  return result_of(is_signal ? cuda_calls().cuMemFreeHost(memory)
                             : cuda_calls().cuMemFree_v2(address(memory)));
}

// The structs of the two APIs have the same layout. Their last members differ, and are not used.
ASSAY_EXPORT HipResult hipMemGetAllocationGranularity(std::size_t* bytes, const void* properties,
                                                      int option) {
  return result_of(cuda_calls().cuMemGetAllocationGranularity(bytes, properties, option));
}
ASSAY_EXPORT HipResult hipMemCreate(HipMemHandle* handle, std::size_t bytes, const void* properties,
                                    unsigned long long flags) {
  cu::CUmemGenericAllocationHandle made = 0;
  const cu::CUresult result = cuda_calls().cuMemCreate(&made, bytes, properties, flags);
  *handle = reinterpret_cast<HipMemHandle>(made);  // NOLINT(performance-no-int-to-ptr)
  return result_of(result);
}
ASSAY_EXPORT HipResult hipMemExportToShareableHandle(void* descriptor, HipMemHandle handle,
                                                     int type, unsigned long long flags) {
  return result_of(
      cuda_calls().cuMemExportToShareableHandle(descriptor, memory_of(handle), type, flags));
}
ASSAY_EXPORT HipResult hipMemImportFromShareableHandle(HipMemHandle* handle, void* descriptor,
                                                       int type) {
  static_assert(sizeof(HipMemHandle) == sizeof(cu::CUmemGenericAllocationHandle) &&
                kHandleTypePosixFd == cuda::kHandleTypePosixFd);
  cu::CUmemGenericAllocationHandle made = 0;
  const cu::CUresult result = cuda_calls().cuMemImportFromShareableHandle(&made, descriptor, type);
  *handle = reinterpret_cast<HipMemHandle>(made);  // NOLINT(performance-no-int-to-ptr)
  return result_of(result);
}
ASSAY_EXPORT HipResult hipMemRelease(HipMemHandle handle) {
  return result_of(cuda_calls().cuMemRelease(memory_of(handle)));
}
ASSAY_EXPORT HipResult hipMemAddressReserve(void** base, std::size_t bytes, std::size_t alignment,
                                            void* wanted, unsigned long long flags) {
  cu::CUdeviceptr made = 0;
  const cu::CUresult result =
      cuda_calls().cuMemAddressReserve(&made, bytes, alignment, address(wanted), flags);
  *base = reinterpret_cast<void*>(made);  // NOLINT(performance-no-int-to-ptr)
  return result_of(result);
}
ASSAY_EXPORT HipResult hipMemAddressFree(void* base, std::size_t bytes) {
  return result_of(cuda_calls().cuMemAddressFree(address(base), bytes));
}
ASSAY_EXPORT HipResult hipMemMap(void* base, std::size_t bytes, std::size_t offset,
                                 HipMemHandle handle, unsigned long long flags) {
  return result_of(cuda_calls().cuMemMap(address(base), bytes, offset, memory_of(handle), flags));
}
ASSAY_EXPORT HipResult hipMemUnmap(void* base, std::size_t bytes) {
  return result_of(cuda_calls().cuMemUnmap(address(base), bytes));
}
ASSAY_EXPORT HipResult hipMemSetAccess(void* base, std::size_t bytes,
                                       const HipMemAccessDesc* access, std::size_t count) {
  static_assert(sizeof(HipMemAccessDesc) == sizeof(cu::CUmemAccessDesc) &&
                kLocationDevice == cuda::kLocationDevice &&
                kAccessReadWrite == cuda::kAccessReadWrite);
  if (count != 1) return kNotSupported;
  const cu::CUmemAccessDesc one{{access->location.type, access->location.id}, access->flags};
  return result_of(cuda_calls().cuMemSetAccess(address(base), bytes, &one, 1));
}
ASSAY_EXPORT HipResult hipMemcpyHtoDAsync(void* to, void* from, std::size_t bytes,
                                          HipStream stream) {
  return result_of(cuda_calls().cuMemcpyHtoDAsync_v2(address(to), from, bytes, stream_of(stream)));
}
ASSAY_EXPORT HipResult hipMemcpyDtoHAsync(void* to, void* from, std::size_t bytes,
                                          HipStream stream) {
  return result_of(cuda_calls().cuMemcpyDtoHAsync_v2(to, address(from), bytes, stream_of(stream)));
}
ASSAY_EXPORT HipResult hipMemcpyDtoDAsync(void* to, void* from, std::size_t bytes,
                                          HipStream stream) {
  return result_of(
      cuda_calls().cuMemcpyDtoDAsync_v2(address(to), address(from), bytes, stream_of(stream)));
}
ASSAY_EXPORT HipResult hipMemsetD8Async(void* to, unsigned char value, std::size_t count,
                                        HipStream stream) {
  return result_of(cuda_calls().cuMemsetD8Async(address(to), value, count, stream_of(stream)));
}
ASSAY_EXPORT HipResult hipMemsetD16Async(void* to, unsigned short value, std::size_t count,
                                         HipStream stream) {
  return result_of(cuda_calls().cuMemsetD16Async(address(to), value, count, stream_of(stream)));
}
ASSAY_EXPORT HipResult hipMemsetD32Async(void* to, int value, std::size_t count, HipStream stream) {
  return result_of(cuda_calls().cuMemsetD32Async(address(to), static_cast<unsigned>(value), count,
                                                 stream_of(stream)));
}

ASSAY_EXPORT HipResult hipModuleLoadData(HipModule* module, const void* image) {
  return result_of(cuda_calls().cuModuleLoadData(reinterpret_cast<cu::CUmodule*>(module), image));
}
ASSAY_EXPORT HipResult hipModuleUnload(HipModule module) {
  return result_of(cuda_calls().cuModuleUnload(reinterpret_cast<cu::CUmodule>(module)));
}
ASSAY_EXPORT HipResult hipModuleGetFunction(HipFunction* function, HipModule module,
                                            const char* name) {
  const cu::CUresult found = cuda_calls().cuModuleGetFunction(
      reinterpret_cast<cu::CUfunction*>(function), reinterpret_cast<cu::CUmodule>(module), name);
  if (found != cu::kSuccess) return result_of(found);
  FunctionState state;
  const HipResult read = result_of(cuda_calls().cuFuncGetAttribute(
      &state.static_shared_bytes, cuda::kFunctionSharedSizeBytes, function_of(*function)));
  const std::lock_guard lock(runtime().mutex);
  // An unloaded module may have had a function with the same handle.
  runtime().functions[*function] = state;
  return read;
}
ASSAY_EXPORT HipResult hipFuncGetAttribute(int* value, int attribute, HipFunction function) {
  // The four attributes that the launcher reads have the same numbers in both APIs.
  static_assert(kFunctionMaxThreadsPerBlock == cuda::kFunctionMaxThreadsPerBlock &&
                kFunctionSharedSizeBytes == cuda::kFunctionSharedSizeBytes &&
                kFunctionLocalSizeBytes == cuda::kFunctionLocalSizeBytes &&
                kFunctionNumRegs == cuda::kFunctionNumRegs);
  return result_of(cuda_calls().cuFuncGetAttribute(value, attribute, function_of(function)));
}
ASSAY_EXPORT HipResult hipModuleLaunchKernel(HipFunction function, unsigned grid_x, unsigned grid_y,
                                             unsigned grid_z, unsigned block_x, unsigned block_y,
                                             unsigned block_z, unsigned shared_bytes,
                                             HipStream stream, void** params, void** extra) {
  const auto key = [](void* value) { return reinterpret_cast<std::uintptr_t>(value); };
  if (params != nullptr || extra == nullptr || key(extra[0]) != kLaunchParamBufferPointer ||
      key(extra[2]) != kLaunchParamBufferSize || key(extra[4]) != kLaunchParamEnd)
    return kInvalidValueOfHip;
  if (const cu::CUresult allowed = allow_shared_bytes(function, static_cast<int>(shared_bytes));
      allowed != cu::kSuccess)
    return result_of(allowed);
  // The keys of CUDA have the same numbers, except the last, which is null.
  void* keys[] = {extra[0], extra[1], extra[2], extra[3], nullptr};
  const bool none = *static_cast<const std::size_t*>(extra[3]) == 0;
  return result_of(cuda_calls().cuLaunchKernel(
      function_of(function), grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
      stream_of(stream), nullptr, none ? nullptr : static_cast<void**>(keys)));
}
ASSAY_EXPORT HipResult hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks, HipFunction function, int threads, std::size_t shared_bytes) {
  if (const cu::CUresult allowed = allow_shared_bytes(function, static_cast<int>(shared_bytes));
      allowed != cu::kSuccess)
    return result_of(allowed);
  return result_of(cuda_calls().cuOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, function_of(function), threads, shared_bytes));
}
ASSAY_EXPORT HipResult hipModuleLaunchCooperativeKernel(HipFunction function, unsigned grid_x,
                                                        unsigned grid_y, unsigned grid_z,
                                                        unsigned block_x, unsigned block_y,
                                                        unsigned block_z, unsigned shared_bytes,
                                                        HipStream stream, void** params) {
  if (const cu::CUresult allowed = allow_shared_bytes(function, static_cast<int>(shared_bytes));
      allowed != cu::kSuccess)
    return result_of(allowed);
  return result_of(cuda_calls().cuLaunchCooperativeKernel(function_of(function), grid_x, grid_y,
                                                          grid_z, block_x, block_y, block_z,
                                                          shared_bytes, stream_of(stream), params));
}

ASSAY_EXPORT HipResult hipStreamCreateWithFlags(HipStream* stream, unsigned flags) {
  static_assert(kStreamNonBlocking == cuda::kStreamNonBlocking);
  return result_of(cuda_calls().cuStreamCreate(reinterpret_cast<cu::CUstream*>(stream), flags));
}
ASSAY_EXPORT HipResult hipStreamDestroy(HipStream stream) {
  return result_of(cuda_calls().cuStreamDestroy_v2(stream_of(stream)));
}
ASSAY_EXPORT HipResult hipStreamSynchronize(HipStream stream) {
  return result_of(cuda_calls().cuStreamSynchronize(stream_of(stream)));
}
ASSAY_EXPORT HipResult hipStreamWaitValue32(HipStream stream, void* word, std::uint32_t value,
                                            unsigned flags, std::uint32_t mask) {
  if (mask != kEveryBit || flags != kStreamWaitValueGte) return kNotSupported;
  return result_of(cuda_calls().cuStreamWaitValue32_v2(stream_of(stream), address(word), value,
                                                       cuda::kWaitValueGeq));
}
ASSAY_EXPORT HipResult hipEventCreateWithFlags(HipEvent* event, unsigned flags) {
  static_assert(kEventDefault == cuda::kEventDefault);
  return result_of(cuda_calls().cuEventCreate(reinterpret_cast<cu::CUevent*>(event), flags));
}
ASSAY_EXPORT HipResult hipEventDestroy(HipEvent event) {
  return result_of(cuda_calls().cuEventDestroy_v2(event_of(event)));
}
ASSAY_EXPORT HipResult hipEventRecord(HipEvent event, HipStream stream) {
  return result_of(cuda_calls().cuEventRecord(event_of(event), stream_of(stream)));
}
ASSAY_EXPORT HipResult hipEventElapsedTime(float* ms, HipEvent start, HipEvent stop) {
  return result_of(cuda_calls().cuEventElapsedTime(ms, event_of(start), event_of(stop)));
}

// Each function that the launcher loads exists here with the signature that the launcher expects.
// tests/sandbox/launcher/driver/hip_api_test.cc compares the same signatures with AMD's header.
#define ASSAY_CHECK_STAND_IN(symbol, ...) \
  static_assert(std::is_same_v<decltype(symbol), std::type_identity_t<__VA_ARGS__>>, #symbol);
ASSAY_HIP_FUNCTIONS(ASSAY_CHECK_STAND_IN)
ASSAY_HIP_NEWER_FUNCTIONS(ASSAY_CHECK_STAND_IN)
#undef ASSAY_CHECK_STAND_IN

}  // namespace assay::sandbox::hip
