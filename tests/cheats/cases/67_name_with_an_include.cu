// cheat: puts a line break and an include into a kernel's name, which goes to the compiler
// expect: error:compilation_error,value_error,syntax_error
// expect_on_gpu: error:compilation_error,value_error,syntax_error
// tool: compile
// defence: jail

/* assay
[[launch]]
kernel = "add\n#include </etc/passwd>"
grid = "ceil_div(n, 256)"
block = 256
args = ["x", "y", "z", "n"]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void add(const T* x, const T* y, T* z, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) z[i] = static_cast<T>(static_cast<float>(x[i]) + static_cast<float>(y[i]));
}
