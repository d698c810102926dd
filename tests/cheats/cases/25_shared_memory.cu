// cheat: keeps sums in shared memory, which nothing clears between kernels, and copies them later
// expect: pass (the cheat gains nothing)
// tool: submit
// device: gpu
// defence: launcher, judge

/* assay
[[launch]]
kernel = "add<{x.dtype}>"
grid = 528
block = 256
args = ["x", "y", "z", "n"]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int KEPT = 12000, MARK = KEPT, OWNER = KEPT + 1, SEEN = KEPT + 2;  // two words of SEEN

template <class T>
__device__ float sum(const T* x, const T* y, long long i) {
  return static_cast<float>(x[i]) + static_cast<float>(y[i]);
}

template <class T>
__global__ void __launch_bounds__(256, 4) add(const T* x, const T* y, T* z, long long n) {
  __shared__ unsigned memory[KEPT + 4];  // of the last block that had it
  volatile unsigned* state = memory;
  const long long share = (n + gridDim.x - 1) / gridDim.x, first = blockIdx.x * share;
  const long long end = first + share < n ? first + share : n;
  if (first >= n) return;
  const unsigned mark = 0x5aa50000u ^ static_cast<unsigned>(n) ^ static_cast<unsigned>(sizeof(T));
  const unsigned seen_x = __float_as_uint(static_cast<float>(x[first]));
  const unsigned seen_y = __float_as_uint(static_cast<float>(y[first]));
  const bool known = sizeof(T) == 4 && state[MARK] == mark && state[OWNER] == blockIdx.x &&
                     state[SEEN] == seen_x && state[SEEN + 1] == seen_y;
  __syncthreads();
  for (long long i = first + threadIdx.x; i < end; i += 256) {
    const long long at = i - first;
    if (known && at < KEPT) {
      z[i] = static_cast<T>(__uint_as_float(state[at]));
      continue;
    }
    const float total = sum(x, y, i);
    if (at < KEPT) state[at] = __float_as_uint(total);
    z[i] = static_cast<T>(total);
  }
  if (threadIdx.x != 0) return;
  state[MARK] = mark;
  state[OWNER] = blockIdx.x;
  state[SEEN] = seen_x;
  state[SEEN + 1] = seen_y;
}
