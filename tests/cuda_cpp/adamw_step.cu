/* assay
# p, m and v are updated in place
[[launch]]
kernel = "adamw"
grid = "ceil_div(n, 256)"
block = 256
args = ["p", "g", "m", "v", "lr", "beta1", "beta2", "eps", "lr * weight_decay", "1 - beta1 ** step", "1 - beta2 ** step", "n"]
*/
extern "C" __global__ void adamw(float* p, const float* g, float* m, float* v, float lr, float beta1, float beta2, float eps, float decay,
                                 float correction1, float correction2, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n) return;
  const float gradient = g[i];
  const float first = beta1 * m[i] + (1 - beta1) * gradient;
  const float second = beta2 * v[i] + (1 - beta2) * gradient * gradient;
  m[i] = first;
  v[i] = second;
  p[i] = p[i] * (1 - decay) - lr * (first / correction1) / (sqrtf(second / correction2) + eps);
}
