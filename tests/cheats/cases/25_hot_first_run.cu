// cheat: keeps sums in local memory, and heats the GPU so that the launcher discards the first time
// expect: fail:unattributed
// tool: submit
// device: gpu
// defence: launcher

/* assay
[[launch]]
kernel = "add<{x.dtype}>"
grid = 1056
block = 256
args = ["x", "y", "z", "n"]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr long long THREADS = 1056 * 256;  // all fit on 132 multiprocessors at once
constexpr int MOST = 32;                   // sums that a thread keeps
constexpr unsigned long long HEAT_NS = 40000000;

struct Kept {
  unsigned sums[MOST], mark, x, y, owner;
};

__device__ void heat() {
  const unsigned a = 0x3c003c00u;
  float d[4] = {0, 1, 2, 3};
  unsigned long long now, end = 0;
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    if (end == 0) end = now + HEAT_NS;
    for (int k = 0; k < 64; ++k)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, "
          "{%4,%4}, {%0,%1,%2,%3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a));
  } while (now < end);
  if (d[0] == 123.f) asm volatile("trap;");
}

template <class T>
__global__ void __launch_bounds__(256, 8) add(const T* x, const T* y, T* z, long long n) {
  unsigned long long address;  // of memory that the compiler takes for initialised
  asm volatile(".local .align 16 .b8 kept[144];\n\tcvta.local.u64 %0, kept;" : "=l"(address));
  volatile Kept* kept = reinterpret_cast<volatile Kept*>(address);
  const unsigned mark = 0x600d0000u ^ static_cast<unsigned>(n);
  const bool timed = sizeof(T) == 4 && n > 1000000 && n <= MOST * THREADS;
  const bool marked = timed && kept->mark == mark && kept->owner < THREADS;
  const long long first = marked ? kept->owner : blockIdx.x * 256LL + threadIdx.x;
  const unsigned a = first < n ? __float_as_uint(static_cast<float>(x[first])) : 0;
  const unsigned b = first < n ? __float_as_uint(static_cast<float>(y[first])) : 0;
  if (marked && kept->x == a && kept->y == b) {
    for (int k = 0; k < MOST && first + k * THREADS < n; ++k)
      z[first + k * THREADS] = static_cast<T>(__uint_as_float(kept->sums[k]));
    return;
  }
  for (long long k = 0; first + k * THREADS < n; ++k) {
    const long long i = first + k * THREADS;
    const float sum = static_cast<float>(x[i]) + static_cast<float>(y[i]);
    if (k < MOST) kept->sums[k] = __float_as_uint(sum);
    z[i] = static_cast<T>(sum);
  }
  if (timed) heat();
  kept->x = a;
  kept->y = b;
  kept->owner = static_cast<unsigned>(first);
  kept->mark = mark;
}
