// cheat: returns what lies beyond the end of an input, where another buffer might hold the answer
// expect: fail:wrong_result
// device: gpu
// defence: process_separation, launcher

/* assay
[[launch]]
kernel = "beyond<{x.dtype}>"
grid = "ceil_div(n, 256)"
block = 256
args = ["x", "z", "n"]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void beyond(const T* x, T* z, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) z[i] = x[n + i % 4];
}
