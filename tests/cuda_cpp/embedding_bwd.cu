/* assay
[fill]
dw = 0

[[launch]]
kernel = "scatter_add"
grid = "tokens"
block = 128
args = ["dy", "indices", "dw", "dim"]
*/
extern "C" __global__ void scatter_add(const float* dy, const int* indices, float* dw, int dim) {
  const long long from = static_cast<long long>(blockIdx.x) * dim, to = static_cast<long long>(indices[blockIdx.x]) * dim;
  for (int i = threadIdx.x; i < dim; i += blockDim.x) atomicAdd(dw + to + i, dy[from + i]);
}
