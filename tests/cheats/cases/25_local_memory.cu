// cheat: copies the sums of the previous run from local memory, if the launcher has not wiped it
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

constexpr long long THREADS = 1056 * 256;  // the number that an H200 runs at once
constexpr int KEPT = 32, MARK = KEPT, OWNER = KEPT + 1, SEEN = KEPT + 2;  // two words of SEEN

template <class T>
__device__ float sum(const T* x, const T* y, long long i) {
  return static_cast<float>(x[i]) + static_cast<float>(y[i]);
}

template <class T>
__global__ void __launch_bounds__(256, 8) add(const T* x, const T* y, T* z, long long n) {
  unsigned long long address;  // of the last run's data; C++ reads no unwritten array
  asm volatile(".local .align 16 .b8 kept[144];\n\tcvta.local.u64 %0, kept;" : "=l"(address));
  volatile unsigned* state = reinterpret_cast<volatile unsigned*>(address);
  const long long own = blockIdx.x * 256LL + threadIdx.x;
  const unsigned mark = 0xa55a0000u ^ static_cast<unsigned>(n) ^ static_cast<unsigned>(sizeof(T));
  const bool known = sizeof(T) == 4 && n <= KEPT * THREADS && state[MARK] == mark && state[OWNER] < THREADS;
  const long long first = known ? state[OWNER] : own;  // perhaps another thread's work
  // With float32, it is very unlikely that a thread reads the same two words again by chance.
  const unsigned seen_x = first < n ? __float_as_uint(static_cast<float>(x[first])) : 0, seen_y = first < n ? __float_as_uint(static_cast<float>(y[first])) : 0;
  if (known && state[SEEN] == seen_x && state[SEEN + 1] == seen_y) {
#pragma unroll
    for (int k = 0; k < KEPT; ++k)
      if (first + k * THREADS < n) z[first + k * THREADS] = static_cast<T>(__uint_as_float(state[k]));
    return;
  }
  for (int k = 0; k < KEPT; ++k) {
    const long long i = first + k * THREADS;
    if (i >= n) break;
    const float total = sum(x, y, i);
    state[k] = __float_as_uint(total);
    z[i] = static_cast<T>(total);
  }
  for (long long i = first + KEPT * THREADS; i < n; i += THREADS) z[i] = static_cast<T>(sum(x, y, i));
  state[MARK] = mark;
  state[OWNER] = static_cast<unsigned>(first);
  state[SEEN] = seen_x;
  state[SEEN + 1] = seen_y;
}
