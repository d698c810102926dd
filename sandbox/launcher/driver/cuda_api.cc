#include "sandbox/launcher/driver/cuda_api.h"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <vector>

namespace assay::sandbox::cuda {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";

Result<CudaApi> load() {
  // The library is never closed, because threads and exit handlers of the driver still use it.
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return fail(ErrorCode::unavailable, std::string("no CUDA driver: ") + ::dlerror());
  CudaApi api;
  std::string missing;
#define ASSAY_CUDA_LOAD(symbol, ...)                                              \
  api.symbol = reinterpret_cast<decltype(api.symbol)>(::dlsym(library, #symbol)); \
  if (api.symbol == nullptr) missing += (missing.empty() ? "" : ", ") + std::string(#symbol);
  ASSAY_CUDA_FUNCTIONS(ASSAY_CUDA_LOAD)
#undef ASSAY_CUDA_LOAD
  if (!missing.empty()) {
    return fail(ErrorCode::unavailable, "the CUDA driver is too old: " + std::string(kLibrary) +
                                            " lacks " + missing +
                                            "; version 550 (CUDA 12.4) or newer is needed");
  }
  return api;
}

/// Returns the version of the kernel module ("580.159.03"), or an empty string. libcuda reports
/// only the version of its interface.
std::string kernel_module_version() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  std::getline(file, version);
  return version;
}

}  // namespace

std::string CudaApi::describe(CUresult result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (cuGetErrorName(result, &name) != kSuccess || name == nullptr)
    return "CUresult " + std::to_string(result);
  if (cuGetErrorString(result, &text) != kSuccess || text == nullptr) return name;
  return std::string(name) + " (" + text + ")";
}

Result<const CudaApi*> open_cuda_api() {
  static const Result<CudaApi> loaded = load();
  if (!loaded) return fail(loaded.error());
  return &*loaded;
}

std::string library_folder() {
  const Result<const CudaApi*> api = open_cuda_api();
  Dl_info facts{};
  if (!api || ::dladdr(reinterpret_cast<void*>((*api)->cuInit), &facts) == 0 ||
      facts.dli_fname == nullptr)
    return "/usr/lib";
  const std::string path = facts.dli_fname;
  return path.substr(0, path.rfind('/'));
}

Result<int> count_devices(const CudaApi& api) {
  // With lazy loading, a kernel's code would be loaded at its first launch. That launch may be part
  // of a measurement, and may hang while the stream is blocked.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  // A plan uses one stream, so one hardware queue is enough. With the default of eight queues, the
  // creation of a context takes a third longer.
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);
  int count = 0;
  if (const CUresult result = api.cuInit(0); result != kSuccess)
    return fail(ErrorCode::unavailable, "cuInit: " + api.describe(result));
  if (const CUresult result = api.cuDeviceGetCount(&count); result != kSuccess)
    return fail(ErrorCode::unavailable, "cuDeviceGetCount: " + api.describe(result));
  if (count == 0)
    return fail(ErrorCode::unavailable,
                "the CUDA driver sees no device (is CUDA_VISIBLE_DEVICES empty?)");
  return count;
}

Result<DeviceFacts> read_device_facts(const CudaApi& api, int index) {
  CUdevice device = 0;
  if (const CUresult result = api.cuDeviceGet(&device, index); result != kSuccess) {
    return fail(ErrorCode::unavailable,
                "device " + std::to_string(index) + ": " + api.describe(result));
  }
  CUresult failed = kSuccess;
  const auto attribute = [&](int which) -> std::int64_t {
    int value = 0;
    if (const CUresult result = api.cuDeviceGetAttribute(&value, which, device); result != kSuccess)
      failed = result;
    return value;
  };
  DeviceFacts facts;
  std::array<char, 256> name{};
  if (const CUresult result =
          api.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device);
      result != kSuccess)
    failed = result;
  facts.name = name.data();
  const std::int64_t major = attribute(kAttributeComputeCapabilityMajor);
  const std::int64_t minor = attribute(kAttributeComputeCapabilityMinor);
  facts.cc = std::to_string(major) + "." + std::to_string(minor);
  facts.target = "cuda:" + std::to_string(major * 10 + minor);
  facts.sms = attribute(kAttributeMultiprocessorCount);
  facts.l2_bytes = attribute(kAttributeL2CacheSize);
  facts.clock_khz = attribute(kAttributeClockRate);
  facts.shared_bytes_per_block = attribute(kAttributeMaxSharedMemoryPerBlockOptin);
  facts.reaches_host_memory = attribute(kAttributePageableMemoryAccess) != 0;
  // Memory transfers data twice per clock. The factor 1000 turns kHz into Hz, and the 8 turns bits
  // into bytes.
  facts.bandwidth_bytes_per_s = 2 * attribute(kAttributeMemoryClockRate) * 1000 *
                                attribute(kAttributeGlobalMemoryBusWidth) / 8;
  std::size_t memory = 0;
  if (const CUresult result = api.cuDeviceTotalMem_v2(&memory, device); result != kSuccess)
    failed = result;
  facts.memory_bytes = static_cast<std::int64_t>(memory);
  int version = 0;
  if (const CUresult result = api.cuDriverGetVersion(&version); result != kSuccess) failed = result;
  const std::string interface =
      "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  const std::string module_version = kernel_module_version();
  facts.driver = module_version.empty() ? interface : module_version + " (" + interface + ")";
  if (failed != kSuccess)
    return fail(ErrorCode::unavailable,
                "device " + std::to_string(index) + ": " + api.describe(failed));
  return facts;
}

LaunchResult<KernelFacts> read_kernel_facts(const CudaApi& api, CUfunction function,
                                            const std::string& doing) {
  const auto check = [&](CUresult result, const std::string& what) -> LaunchStatus {
    if (result == kSuccess) return {};
    return tl::unexpected(classify(api, result, what));
  };
  const auto attribute = [&](int which, std::int64_t& to) {
    int value = 0;
    LaunchStatus s = check(api.cuFuncGetAttribute(&value, which, function), doing);
    to = value;
    return s;
  };
  KernelFacts facts;
  for (const auto& [which, to] : {std::pair{kFunctionNumRegs, &facts.registers},
                                  {kFunctionLocalSizeBytes, &facts.local_bytes},
                                  {kFunctionSharedSizeBytes, &facts.static_shared_bytes},
                                  {kFunctionMaxThreadsPerBlock, &facts.max_threads_per_block}}) {
    if (LaunchStatus s = attribute(which, *to); !s) return tl::unexpected(s.error());
  }
  std::size_t offset = 0, bytes = 0;
  std::vector<std::size_t>& params = facts.param_bytes.emplace();
  CUresult result = kSuccess;
  while ((result = api.cuFuncGetParamInfo(function, params.size(), &offset, &bytes)) == kSuccess)
    params.push_back(bytes);
  if (result != kInvalidValue) {
    if (LaunchStatus s = check(result, doing + ": reading its parameters"); !s)
      return tl::unexpected(s.error());
  }
  return facts;
}

LaunchError classify(const CudaApi& api, CUresult result, const std::string& doing) {
  const std::string message = doing + ": " + api.describe(result);
  switch (result) {
    case kOutOfMemory: return {LaunchErrorKind::device_full, message};
    case kIllegalAddress:
    case kLaunchTimeout:
    case kAssert:
    case kHardwareStackError:
    case kIllegalInstruction:
    case kMisalignedAddress:
    case kInvalidAddressSpace:
    case kInvalidPc:
    case kLaunchFailed:
    case kTensorMemoryLeak: return {LaunchErrorKind::gpu_fault, message};
    case kDeviceUnavailable:
    case kNoDevice:
    case kEccUncorrectable:
    case kNvlinkUncorrectable:
    case kContextIsDestroyed:
    case kUnknown: return {LaunchErrorKind::internal_error, message};
    default: return {LaunchErrorKind::launch_failure, message};
  }
}

}  // namespace assay::sandbox::cuda
