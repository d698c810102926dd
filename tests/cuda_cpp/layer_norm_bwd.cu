/* assay
# Computes dx row by row. Many rows add to each column, so dw and db need two steps.
[sizes]
slices = "min(ceil_div(rows, 32), 4 * multiprocessors)"

[scratch.dw_part]
dtype = "float32"
shape = ["slices", "cols"]

[scratch.db_part]
dtype = "float32"
shape = ["slices", "cols"]

[[launch]]
kernel = "input_gradient"
grid = "rows"
block = 256
args = ["dy", "x", "w", "mean", "rstd", "dx", "cols"]

[[launch]]
kernel = "weight_gradient_slices"
grid = ["ceil_div(cols, 128)", "slices"]
block = 128
args = ["dy", "x", "mean", "rstd", "dw_part", "db_part", "rows", "cols"]

[[launch]]
kernel = "add_slices"
grid = "ceil_div(cols, 128)"
block = 128
args = ["dw_part", "db_part", "dw", "db", "slices", "cols"]
*/
__device__ float block_sum(float value) {
  __shared__ float partial[8];
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  float total = 0;
  for (int i = 0; i < 8; ++i) total += partial[i];
  __syncthreads();
  return total;
}

extern "C" __global__ void input_gradient(const float* dy, const float* x, const float* w, const float* mean, const float* rstd, float* dx, int cols) {
  const long long row = blockIdx.x, at = row * cols;
  const float mu = mean[row], scale = rstd[row];
  float sum = 0, dot = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    const float g = dy[at + i] * w[i];
    sum += g;
    dot += g * (x[at + i] - mu) * scale;
  }
  sum = block_sum(sum) / cols;
  dot = block_sum(dot) / cols;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    const float normal = (x[at + i] - mu) * scale;
    dx[at + i] = scale * (dy[at + i] * w[i] - sum - normal * dot);
  }
}

extern "C" __global__ void weight_gradient_slices(const float* dy, const float* x, const float* mean, const float* rstd, float* dw_part, float* db_part,
                                                  int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= cols) return;
  float dw = 0, db = 0;
  for (int row = blockIdx.y; row < rows; row += gridDim.y) {
    const long long at = static_cast<long long>(row) * cols + col;
    dw += dy[at] * (x[at] - mean[row]) * rstd[row];
    db += dy[at];
  }
  dw_part[static_cast<long long>(blockIdx.y) * cols + col] = dw;
  db_part[static_cast<long long>(blockIdx.y) * cols + col] = db;
}

extern "C" __global__ void add_slices(const float* dw_part, const float* db_part, float* dw, float* db, int slices, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= cols) return;
  float dw_sum = 0, db_sum = 0;
  for (int i = 0; i < slices; ++i) {
    dw_sum += dw_part[static_cast<long long>(i) * cols + col];
    db_sum += db_part[static_cast<long long>(i) * cols + col];
  }
  dw[col] = dw_sum;
  db[col] = db_sum;
}
