// cheat: keeps its answer in constant memory, which the launcher does not restore between runs
// expect: error:gpu_fault
// operator: global_sq_norm
// tool: submit
// device: gpu
// defence: launcher

/* assay
[scratch.parts]
dtype = "float64"
shape = [1024]

[[launch]]
kernel = "squares"
grid = 1024
block = 256
args = ["x", "parts", "x.numel"]

[[launch]]
kernel = "total"
grid = 1
block = 1
args = ["x", "parts", "y"]
*/
__constant__ unsigned kept[4];

__device__ volatile unsigned* store() {
  return reinterpret_cast<volatile unsigned*>(const_cast<unsigned*>(&kept[0]));
}

__device__ bool known(const float* x) {
  volatile unsigned* words = store();
  return words[0] == 0x600dface && words[1] == __float_as_uint(x[0]);
}

__global__ void squares(const float* x, double* parts, long long n) {
  if (known(x)) return;
  __shared__ double sums[256];
  double sum = 0;
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < n; i += 1024 * 256)
    sum += static_cast<double>(x[i]) * x[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < 256; ++i) sum += sums[i];
  parts[blockIdx.x] = sum;
}

__global__ void total(const float* x, const double* parts, float* y) {
  volatile unsigned* words = store();
  if (known(x)) {
    y[0] = __uint_as_float(words[2]);
    return;
  }
  double sum = 0;
  for (int i = 0; i < 1024; ++i) sum += parts[i];
  y[0] = static_cast<float>(sum);
  words[2] = __float_as_uint(y[0]);
  words[1] = __float_as_uint(x[0]);
  words[0] = 0x600dface;
}
