#include "sandbox/launcher/driver/hip_api.h"

#include <dlfcn.h>

namespace assay::sandbox::hip {
namespace {

/// Newest first; the last is what a development package installs.
constexpr const char* kLibraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                      "libamdhip64.so"};

Result<HipApi> load() {
  void* library = nullptr;
  const char* name = nullptr;
  std::string problem;
  for (const char* candidate : kLibraries) {
    // Never closed: the runtime leaves threads and exit handlers behind.
    library = ::dlopen(candidate, RTLD_NOW | RTLD_LOCAL);
    name = candidate;
    if (library != nullptr) break;
    problem = ::dlerror();
  }
  if (library == nullptr) return fail(ErrorCode::unavailable, "no HIP runtime: " + problem);
  HipApi api;
  std::string missing;
#define ASSAY_HIP_LOAD(symbol, ...)                                               \
  api.symbol = reinterpret_cast<decltype(api.symbol)>(::dlsym(library, #symbol)); \
  if (api.symbol == nullptr) missing += (missing.empty() ? "" : ", ") + std::string(#symbol);
  ASSAY_HIP_FUNCTIONS(ASSAY_HIP_LOAD)
#undef ASSAY_HIP_LOAD
  if (!missing.empty())
    return fail(ErrorCode::unavailable,
                "the HIP runtime is too old: " + std::string(name) + " lacks " + missing);
  return api;
}

}  // namespace

std::string HipApi::describe(HipResult result) const {
  const char* name = hipGetErrorName(result);
  const char* text = hipGetErrorString(result);
  if (name == nullptr) return "hipError_t " + std::to_string(result);
  return text == nullptr ? name : std::string(name) + " (" + text + ")";
}

Result<const HipApi*> open_hip_api() {
  static const Result<HipApi> loaded = load();
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

}  // namespace assay::sandbox::hip
