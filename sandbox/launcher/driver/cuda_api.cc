#include "sandbox/launcher/driver/cuda_api.h"

#include <dlfcn.h>

namespace assay::sandbox::cuda {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";

Result<CudaApi> load() {
  // Never closed: the driver leaves threads and exit handlers behind.
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

}  // namespace assay::sandbox::cuda
