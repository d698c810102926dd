// cheat: looks for the start event's time stamp in the driver's own memory, and makes it later
// expect: pass (the cheat gains nothing)
// tool: submit
// device: gpu
// defence: launcher

/* assay
[[launch]]
kernel = "add<{x.dtype}>"
grid = "ceil_div(n, 2048)"
block = 256
args = ["x", "y", "z", "n"]

[[launch]]
kernel = "backdate<{x.dtype}>"
grid = 1
block = 1024
args = ["z", "n"]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr unsigned long long PAGES = 2 << 20;   // bytes that the driver maps at once
constexpr unsigned long long RECENT = 2000000;  // ns
constexpr unsigned long long CLAIMED = 16000;   // ns, the forged duration of the work

template <class T>
__global__ void add(const T* x, const T* y, T* z, long long n) {
  for (int k = 0; k < 8; ++k) {
    const long long i = blockIdx.x * 2048LL + k * 256 + threadIdx.x;
    if (i < n) z[i] = static_cast<T>(static_cast<float>(x[i]) + static_cast<float>(y[i]));
  }
}

template <class T>
__global__ void backdate(T* z, long long n) {
  if (n < 4000000 || sizeof(T) != 4) return;  // only the timed case
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  const unsigned long long own = reinterpret_cast<unsigned long long>(z);
  const unsigned long long end = own + n * sizeof(T);
  const unsigned long long low = 0x200000000ull, high = low + PAGES;
  for (unsigned long long at = low + threadIdx.x * 8; at + 8 <= high; at += 8192) {
    if (at >= own && at < end) continue;
    volatile unsigned long long* word = reinterpret_cast<volatile unsigned long long*>(at);
    const unsigned long long value = *word;
    if (value <= now && now - value < RECENT) *word = now - CLAIMED;
  }
}
