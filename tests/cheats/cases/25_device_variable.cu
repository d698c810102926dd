// cheat: keeps the first answer in a __device__ variable, and copies it in later runs
// expect: pass (the cheat gains nothing)
// tool: submit
// device: gpu
// defence: launcher, judge

/* assay
[[launch]]
kernel = "add<{x.dtype}>"
grid = "ceil_div(n, 256)"
block = 256
args = ["x", "y", "z", "n"]

[[launch]]
kernel = "answered"
grid = 1
block = 1
args = []
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr long long KEPT = 1 << 24;
__device__ float answer[KEPT];
__device__ bool known;

template <class T>
__global__ void add(const T* x, const T* y, T* z, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  if (!known && i < KEPT) answer[i] = static_cast<float>(x[i]) + static_cast<float>(y[i]);
  z[i] = static_cast<T>(i < KEPT ? answer[i] : static_cast<float>(x[i]) + static_cast<float>(y[i]));
}

extern "C" __global__ void answered() { known = true; }
