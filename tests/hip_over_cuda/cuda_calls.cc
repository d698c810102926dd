#include "tests/hip_over_cuda/cuda_calls.h"

#include <dlfcn.h>

namespace assay::sandbox::hip_over_cuda {
namespace {

CudaCalls load_calls() {
  CudaCalls calls;
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    calls.problem = ::dlerror();
    return calls;
  }
#define ASSAY_CUDA_CALL_LOAD(symbol, ...)                                             \
  calls.symbol = reinterpret_cast<decltype(calls.symbol)>(::dlsym(library, #symbol)); \
  if (calls.symbol == nullptr) calls.problem = "libcuda.so.1 lacks " #symbol;
  ASSAY_CUDA_CALLS(ASSAY_CUDA_CALL_LOAD)
#undef ASSAY_CUDA_CALL_LOAD
  return calls;
}

}  // namespace

const CudaCalls& cuda_calls() {
  static const CudaCalls calls = load_calls();
  return calls;
}

}  // namespace assay::sandbox::hip_over_cuda
