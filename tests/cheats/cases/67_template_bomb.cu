// cheat: instantiates templates whose number doubles at each of 24 levels
// expect: error:memory_limit,timeout,compilation_error
// expect_on_gpu: error:memory_limit,timeout,compilation_error
// tool: compile
// defence: jail

/* assay
[[launch]]
kernel = "add<{x.dtype}>"
grid = "ceil_div(n, 256)"
block = 256
args = ["x", "y", "z", "n"]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <int LEVEL, int PATH>
struct Tree {
  static const int leaves =
      Tree<LEVEL - 1, 2 * PATH>::leaves + Tree<LEVEL - 1, 2 * PATH + 1>::leaves;
};

template <int PATH>
struct Tree<0, PATH> {
  static const int leaves = 1;
};

static const int bomb = Tree<24, 0>::leaves;

template <class T>
__global__ void add(const T* x, const T* y, T* z, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) z[i] = static_cast<T>(static_cast<float>(x[i]) + static_cast<float>(y[i]));
}
