#include "sandbox/launcher/driver/hip_api.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "sandbox/jail/amd_nodes.h"
#include "sandbox/wire/amd_devices.h"

namespace assay::sandbox::hip {
namespace {

/// The names of the library, newest version first. A development package installs the last name.
constexpr const char* kLibraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                      "libamdhip64.so"};

constexpr int kOfMajor = 10'000'000, kOfMinor = 100'000;  // parts of a version's number

// The variables that choose the GPUs that the runtime counts.
constexpr const char* kChoosing[] = {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                     "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"};

/// Returns the variables that are set, as a part of a message.
std::string chosen_by_environment() {
  std::string set;
  for (const char* name : kChoosing) {
    if (const char* value = std::getenv(name); value != nullptr)
      set += std::string(set.empty() ? "" : ", ") + name + "='" + value + "'";
  }
  return set.empty() ? set
                     : "; the environment chooses GPUs by " + set + ": unset it, or name a GPU";
}

/// Returns the path of the library that has the function.
std::string path_of(const HipApi& api) {
  Dl_info facts{};
  if (::dladdr(reinterpret_cast<void*>(api.hipDriverGetVersion), &facts) == 0 ||
      facts.dli_fname == nullptr)
    return "libamdhip64";
  return facts.dli_fname;
}

/// Refuses a library that is older than kOldestVersion. A library that does not say its version is
/// not refused.
Status check_version(const HipApi& api) {
  int version = 0;
  if (api.hipDriverGetVersion(&version) != kSuccess || version >= kOldestVersion) return {};
  return fail(
      ErrorCode::unavailable,
      "the HIP runtime is too old: " + path_of(api) + " is HIP " +
          std::to_string(version / kOfMajor) + "." + std::to_string(version % kOfMajor / kOfMinor) +
          "; install ROCm 6.0 or newer (package hip-runtime-amd), and let ldconfig find its folder "
          "lib");
}

}  // namespace

Result<HipApi> load_hip_api(std::span<const char* const> libraries) {
  void* library = nullptr;
  const char* name = nullptr;
  std::string problem;
  for (const char* candidate : libraries) {
    // The library is never closed, because threads and exit handlers of the runtime still use it.
    library = ::dlopen(candidate, RTLD_NOW | RTLD_LOCAL);
    name = candidate;
    if (library != nullptr) break;
    problem = ::dlerror();
  }
  if (library == nullptr)
    return fail(ErrorCode::unavailable, "no HIP runtime: " + problem +
                                            "; install ROCm 6 or newer (package hip-runtime-amd), "
                                            "and let ldconfig find its folder lib");
  HipApi api;
  std::string missing;
#define ASSAY_HIP_FIND(symbol, ...) \
  api.symbol = reinterpret_cast<decltype(api.symbol)>(::dlsym(library, #symbol));
#define ASSAY_HIP_LOAD(symbol, ...) \
  ASSAY_HIP_FIND(symbol)            \
  if (api.symbol == nullptr) missing += (missing.empty() ? "" : ", ") + std::string(#symbol);
  ASSAY_HIP_FUNCTIONS(ASSAY_HIP_LOAD)
  ASSAY_HIP_NEWER_FUNCTIONS(ASSAY_HIP_FIND)
#undef ASSAY_HIP_LOAD
#undef ASSAY_HIP_FIND
  if (!missing.empty())
    return fail(ErrorCode::unavailable, "the HIP runtime is too old: " + std::string(name) +
                                            " lacks " + missing + "; install ROCm 6 or newer");
  return api;
}

std::string HipApi::describe(HipResult result) const {
  const char* name = hipGetErrorName(result);
  const char* text = hipGetErrorString(result);
  if (name == nullptr) return "hipError_t " + std::to_string(result);
  // HIP 5 returns the name as the text, too.
  const bool same = text == nullptr || std::string_view(text) == name;
  return same ? name : std::string(name) + " (" + text + ")";
}

Result<const HipApi*> open_hip_api() {
  static const Result<HipApi> loaded = load_hip_api(kLibraries);
  if (!loaded) return fail(loaded.error());
  return &*loaded;
}

std::string library_folder() {
  const Result<const HipApi*> api = open_hip_api();
  Dl_info facts{};
  if (!api || ::dladdr(reinterpret_cast<void*>((*api)->hipInit), &facts) == 0 ||
      facts.dli_fname == nullptr)
    return "/usr/lib";
  const std::string path = facts.dli_fname;
  return path.substr(0, path.rfind('/'));
}

Result<int> count_devices(const HipApi& api) {
  int count = 0;
  const HipResult result = api.hipInit(0);
  // An old library may find no GPU because it does not know the GPU, so its age is told first.
  if (Status checked = check_version(api); !checked) return fail(checked.error());
  if (result != kSuccess) {
    const bool none = result == kNoDevice || result == kInvalidDevice;
    return fail(ErrorCode::unavailable,
                std::string(none ? "the HIP runtime finds no AMD GPU: " : "") +
                    "hipInit: " + api.describe(result) + chosen_by_environment());
  }
  if (const HipResult counted = api.hipGetDeviceCount(&count); counted != kSuccess)
    return fail(ErrorCode::unavailable,
                "hipGetDeviceCount: " + api.describe(counted) + chosen_by_environment());
  if (count == 0)
    return fail(ErrorCode::unavailable, "the HIP runtime sees no device" + chosen_by_environment());
  return count;
}

Result<DeviceFacts> read_device_facts(const HipApi& api, int index) {
  const std::string which = "device " + std::to_string(index) + ": ";
  HipDevice device = 0;
  if (const HipResult result = api.hipDeviceGet(&device, index); result != kSuccess)
    return fail(ErrorCode::unavailable, which + api.describe(result));
  HipResult failed = kSuccess;
  const auto keep = [&](HipResult result) {
    if (result != kSuccess) failed = result;
  };
  const auto attribute = [&](int wanted) -> std::int64_t {
    int value = 0;
    keep(api.hipDeviceGetAttribute(&value, wanted, index));
    return value;
  };
  DeviceFacts facts;
  std::array<char, 256> name{}, place{};
  keep(api.hipDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device));
  keep(api.hipDeviceGetPCIBusId(place.data(), static_cast<int>(place.size()) - 1, index));
  facts.name = name.data();
  facts.cc = std::to_string(attribute(kAttributeComputeCapabilityMajor)) + "." +
             std::to_string(attribute(kAttributeComputeCapabilityMinor));
  facts.sms = attribute(kAttributeMultiprocessorCount);
  facts.l2_bytes = attribute(kAttributeL2CacheSize);
  facts.clock_khz = attribute(kAttributeClockRate);
  facts.shared_bytes_per_block = attribute(kAttributeMaxSharedMemoryPerBlock);
  facts.reaches_host_memory = attribute(kAttributePageableMemoryAccess) != 0;
  // The memory of most GPUs transfers data twice per clock. The factor 1000 turns kHz into Hz, and
  // the 8 turns bits into bytes. Known products have the figures of their data sheets.
  facts.bandwidth_bytes_per_s =
      2 * attribute(kAttributeMemoryClockRate) * 1000 * attribute(kAttributeMemoryBusWidth) / 8;
  std::size_t memory = 0;
  keep(api.hipDeviceTotalMem(&memory, device));
  facts.memory_bytes = static_cast<std::int64_t>(memory);
  int version = 0;
  keep(api.hipDriverGetVersion(&version));
  facts.driver = "HIP " + std::to_string(version);
  if (failed != kSuccess) return fail(ErrorCode::unavailable, which + api.describe(failed));
  Result<std::string> target = amd_target_at(place.data());
  if (!target) return fail(ErrorCode::unavailable, which + target.error().message);
  facts.target = *target;
  const AmdMemory memory_facts = amd_memory(facts.target, facts.name);
  if (memory_facts.bytes_per_s > 0) facts.bandwidth_bytes_per_s = memory_facts.bytes_per_s;
  facts.l2_bytes = std::max(facts.l2_bytes, memory_facts.cache_bytes);
  return facts;
}

LaunchError classify(const HipApi& api, HipResult result, const std::string& doing) {
  const std::string message = doing + ": " + api.describe(result);
  switch (result) {
    case kOutOfMemory: return {LaunchErrorKind::device_full, message};
    case kIllegalAddress:
    case kLaunchTimeOut:
    case kAssert:
    case kLaunchFailure: return {LaunchErrorKind::gpu_fault, message};
    case kNotInitialized:
    case kDeinitialized:
    case kNoDevice:
    case kEccNotCorrectable:
    case kContextIsDestroyed:
    case kUnknown: return {LaunchErrorKind::internal_error, message};
    default: return {LaunchErrorKind::launch_failure, message};
  }
}

}  // namespace assay::sandbox::hip
