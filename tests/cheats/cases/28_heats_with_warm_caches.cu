// cheat: heats the GPU for 300 ms if its inputs are cached, so that the oracle runs on a hot GPU
// expect: pass (the cheat gains nothing)
// tool: submit
// device: gpu
// defence: launcher, recheck

/* assay
[[launch]]
kernel = "add<{x.dtype}>"
grid = "ceil_div(n, 2048)"
block = 256
args = ["x", "y", "z", "n"]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ unsigned long long now_ns() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}

__device__ void heat(unsigned long long ns) {
  const unsigned a = 0x3c003c00u, b = 0x3c003c00u;
  float d[4] = {0, 1, 2, 3};
  const unsigned long long end = now_ns() + ns;
  while (now_ns() < end) {
    for (int k = 0; k < 256; ++k)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, "
          "{%5,%5}, {%0,%1,%2,%3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a), "r"(b));
  }
  if (d[0] == 123.f) asm volatile("trap;");
}

// A load from the L2 cache takes fewer cycles than this. A load from memory takes more.
constexpr long long IN_CACHE = 420;
constexpr long long LARGE = 4'000'000;  // elements; only the timed case has more

template <class T>
__global__ void add(const T* x, const T* y, T* z, long long n) {
  __shared__ bool warm;
  if (threadIdx.x == 0) {
    const long long at = n - 1 - (blockIdx.x * 4099LL) % (n / 4 + 1);
    const long long begin = clock64();
    const unsigned short value = *reinterpret_cast<const volatile unsigned short*>(y + at);
    asm volatile("" ::"h"(value));
    warm = clock64() - begin < IN_CACHE && n > LARGE && blockIdx.x < 132 * 8;
  }
  __syncthreads();
  for (int k = 0; k < 8; ++k) {
    const long long i = blockIdx.x * 2048LL + k * 256 + threadIdx.x;
    if (i < n) z[i] = static_cast<T>(static_cast<float>(x[i]) + static_cast<float>(y[i]));
  }
  if (warm) heat(300'000'000);
}
