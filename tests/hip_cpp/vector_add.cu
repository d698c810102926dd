/* assay
[[launch]]
kernel = "add<{x.dtype}>"
grid = "ceil_div(n, 256)"
block = 256
args = ["x", "y", "z", "n"]
*/
template <class T>
__global__ void add(const T* __restrict__ x, const T* __restrict__ y, T* __restrict__ z, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) z[i] = static_cast<T>(static_cast<float>(x[i]) + static_cast<float>(y[i]));
}
