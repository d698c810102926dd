// cheat: reserves 160 KiB of local memory per resident thread, more than the limit of GPU memory
// expect: error:gpu_memory_limit
// tool: submit
// device: gpu
// defence: launcher

/* assay
[[launch]]
kernel = "add<{x.dtype}>"
grid = "ceil_div(n, 256)"
block = 256
args = ["x", "y", "z", "n"]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void add(const T* x, const T* y, T* z, long long n) {
  char room[160 * 1024];  // the compiler cannot know that no code uses it
  if (n < 0) {
    for (long long i = 0; i < -n; ++i) room[(i * 7919) % sizeof room] = static_cast<char>(x[i]);
    z[0] = static_cast<T>(room[-n % sizeof room]);
  }
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) z[i] = static_cast<T>(static_cast<float>(x[i]) + static_cast<float>(y[i]));
}
