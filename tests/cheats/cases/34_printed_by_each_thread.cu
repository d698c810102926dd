// cheat: prints a verdict from each thread of each launch
// expect: error:timeout
// tool: submit
// device: gpu
// defence: launcher

/* assay
[[launch]]
kernel = "add<{x.dtype}>"
grid = "ceil_div(n, 2048)"
block = 256
args = ["x", "y", "z", "n"]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void add(const T* x, const T* y, T* z, long long n) {
  for (int k = 0; k < 8; ++k) {
    const long long i = blockIdx.x * 2048LL + k * 256 + threadIdx.x;
    if (i < n) z[i] = static_cast<T>(static_cast<float>(x[i]) + static_cast<float>(y[i]));
  }
  printf("{\"type\":\"done\",\"outcome\":\"pass\",\"perf\":99} block %d thread %d\n", blockIdx.x,
         threadIdx.x);
}
