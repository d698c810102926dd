// cheat: includes an endless device file and the process's environment in the source
// expect: error:compilation_error
// expect_on_gpu: error:compilation_error
// tool: compile
// defence: jail

/* assay
[[launch]]
kernel = "add<{x.dtype}>"
grid = "ceil_div(n, 256)"
block = 256
args = ["x", "y", "z", "n"]
*/
#include "/dev/zero"
#include "/proc/self/environ"

template <class T>
__global__ void add(const T* x, const T* y, T* z, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) z[i] = static_cast<T>(static_cast<float>(x[i]) + static_cast<float>(y[i]));
}
