// cheat: reads and writes its own machine code on the GPU by a function pointer
// expect: pass (the cheat gains nothing)
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

__device__ __noinline__ float plus(float a, float b) {
  asm volatile("" ::: "memory");
  return a + b;
}

template <class T>
__global__ void add(const T* x, const T* y, T* z, long long n) {
  for (int k = 0; k < 8; ++k) {
    const long long i = blockIdx.x * 2048LL + k * 256 + threadIdx.x;
    if (i < n) z[i] = static_cast<T>(plus(static_cast<float>(x[i]), static_cast<float>(y[i])));
  }
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  float (*function)(float, float) = plus;
  unsigned long long address;
  asm volatile("mov.u64 %0, %1;" : "=l"(address) : "l"(function));
  if (address < 0x10000) return;  // a small number is not an address
  volatile unsigned long long* code = reinterpret_cast<volatile unsigned long long*>(address);
  const unsigned long long word = code[1];
  code[1] = word;
  z[0] = static_cast<T>(2000);  // a wrong output, because it could change its code
}
