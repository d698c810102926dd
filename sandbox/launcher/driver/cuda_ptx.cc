#include "sandbox/launcher/driver/cuda_ptx.h"

#include <cstddef>
#include <memory>
#include <type_traits>

namespace assay::sandbox::cuda {

LaunchResult<std::string> compile_ptx(const CudaApi& api, std::string ptx) {
  const auto failure = [&](CUresult result, const char* doing) {
    return tl::unexpected(classify(api, result, doing));
  };
  CUlinkState created = nullptr;
  if (const CUresult result = api.cuLinkCreate_v2(0, nullptr, nullptr, &created);
      result != kSuccess)
    return failure(result, "creating a linker");
  const auto destroy = [&](CUlinkState state) { api.cuLinkDestroy(state); };
  const std::unique_ptr<std::remove_pointer_t<CUlinkState>, decltype(destroy)> linker(created,
                                                                                      destroy);
  // The driver wants the size with the zero byte at the end of the text.
  if (const CUresult result = api.cuLinkAddData_v2(linker.get(), kJitInputPtx, ptx.data(),
                                                   ptx.size() + 1, "", 0, nullptr, nullptr);
      result != kSuccess)
    return failure(result, "compiling PTX");
  void* image = nullptr;
  std::size_t bytes = 0;
  if (const CUresult result = api.cuLinkComplete(linker.get(), &image, &bytes); result != kSuccess)
    return failure(result, "linking PTX");
  // The linker owns the image, so the image is copied.
  return std::string(static_cast<const char*>(image), bytes);
}

}  // namespace assay::sandbox::cuda
