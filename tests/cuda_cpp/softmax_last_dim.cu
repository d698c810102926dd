/* assay
[sizes]
threads = "min(1024, max(32, next_power_of_2(cols)))"

[[launch]]
kernel = "softmax<{threads}, {x.dtype}>"
grid = "rows"
block = "threads"
args = ["x", "y", "cols"]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>

struct Max {
  static __device__ float of(float a, float b) { return fmaxf(a, b); }
};
struct Sum {
  static __device__ float of(float a, float b) { return a + b; }
};

// Every thread gets the result of the whole block.
template <int THREADS, class Op>
__device__ float reduce(float value, float neutral) {
  __shared__ float partial[32];
  for (int step = 16; step > 0; step /= 2) value = Op::of(value, __shfl_xor_sync(0xffffffff, value, step));
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x % 32 < THREADS / 32 ? partial[threadIdx.x % 32] : neutral;
  for (int step = 16; step > 0; step /= 2) value = Op::of(value, __shfl_xor_sync(0xffffffff, value, step));
  __syncthreads();
  return value;
}

template <int THREADS, class T>
__global__ void softmax(const T* __restrict__ x, T* __restrict__ y, int cols) {
  const T* row = x + static_cast<long long>(blockIdx.x) * cols;
  T* out = y + static_cast<long long>(blockIdx.x) * cols;
  float highest = -INFINITY;
  for (int i = threadIdx.x; i < cols; i += THREADS) highest = fmaxf(highest, static_cast<float>(row[i]));
  highest = reduce<THREADS, Max>(highest, -INFINITY);
  float total = 0;
  for (int i = threadIdx.x; i < cols; i += THREADS) total += expf(static_cast<float>(row[i]) - highest);
  total = reduce<THREADS, Sum>(total, 0);
  for (int i = threadIdx.x; i < cols; i += THREADS) out[i] = static_cast<T>(expf(static_cast<float>(row[i]) - highest) / total);
}
