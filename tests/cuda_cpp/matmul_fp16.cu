/* assay
# Uses tensor cores by mma.h. Each block of four warps computes 64x64 elements of c.
[[launch]]
kernel = "matmul"
grid = ["ceil_div(n, 64)", "ceil_div(m, 64)"]
block = 128
args = ["a", "b", "c", "m", "n", "k"]
*/
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 64, STEP = 16, PAD = 8;

extern "C" __global__ void matmul(const __half* a, const __half* b, __half* c, int m, int n, int k) {
  __shared__ __half left[TILE][STEP + PAD];
  __shared__ __half right[STEP][TILE + PAD];
  __shared__ float result[TILE][TILE];
  const int row = blockIdx.y * TILE, col = blockIdx.x * TILE, warp = threadIdx.x / 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4];
  for (auto& sum : sums) wmma::fill_fragment(sum, 0.0f);
  for (int at = 0; at < k; at += STEP) {
    for (int i = threadIdx.x; i < TILE * STEP; i += blockDim.x) {
      const int r = i / STEP, s = i % STEP;
      left[r][s] = row + r < m && at + s < k ? a[static_cast<long long>(row + r) * k + at + s] : __float2half(0);
    }
    for (int i = threadIdx.x; i < TILE * STEP; i += blockDim.x) {
      const int s = i / TILE, q = i % TILE;
      right[s][q] = at + s < k && col + q < n ? b[static_cast<long long>(at + s) * n + col + q] : __float2half(0);
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> one;
    wmma::load_matrix_sync(one, &left[16 * warp][0], STEP + PAD);
    for (int tile = 0; tile < 4; ++tile) {
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> other;
      wmma::load_matrix_sync(other, &right[0][16 * tile], TILE + PAD);
      wmma::mma_sync(sums[tile], one, other, sums[tile]);
    }
    __syncthreads();
  }
  for (int tile = 0; tile < 4; ++tile) wmma::store_matrix_sync(&result[16 * warp][16 * tile], sums[tile], TILE, wmma::mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x) {
    const int r = i / TILE, q = i % TILE;
    if (row + r < m && col + q < n) c[static_cast<long long>(row + r) * n + col + q] = __float2half(result[r][q]);
  }
}
