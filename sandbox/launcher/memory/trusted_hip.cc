#include "sandbox/launcher/memory/trusted_hip.h"

namespace assay::sandbox::hip {

/// The scrub kernel keeps 96 values of each thread in registers at once. With 1,024 threads, these
/// and the kernel's other registers fill the 128 vector registers that each thread can have. From
/// gfx90a on, vector registers and accumulation registers share one file of 512 registers for each
/// lane of a SIMD unit, and the block has four waves on each unit, so it takes the whole file.
///
/// The clock kernel reads the timer of the GPU, which ticks at 100 MHz on CDNA, so a tick is 10 ns.
const std::string_view kTrustedText = R"(
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned int word16 __attribute__((ext_vector_type(4)));
#define FIRST (u64(blockIdx.x) * blockDim.x + threadIdx.x)
#define STEP (u64(gridDim.x) * blockDim.x)

extern __shared__ u32 room[];

extern "C" __global__ void __launch_bounds__(1024) assay_scrub(u32 bytes) {
  volatile u32* words = room;
  for (u32 at = threadIdx.x; at < bytes / 4; at += blockDim.x) words[at] = 0xFFF1FFF1u;
  __syncthreads();
  u32 held[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) held[i] = words[i];
#pragma unroll
  for (int i = 0; i < 96; ++i) words[i] = held[i];
}

extern "C" __global__ void assay_clock(u64* out, u64 spin_ns) {
  const u64 tick_ns = 10;
  u64 now = __builtin_amdgcn_s_memrealtime(), began = now;
  while (began == now) began = __builtin_amdgcn_s_memrealtime();
  const u64 first = __builtin_amdgcn_s_memtime();
  do now = __builtin_amdgcn_s_memrealtime();
  while ((now - began) * tick_ns < spin_ns);
  out[0] = __builtin_amdgcn_s_memtime() - first;
  out[1] = (now - began) * tick_ns;
}

extern "C" __global__ void assay_touch(u32* words) { words[FIRST] += 1; }

extern "C" __global__ void assay_differ(const word16* a, const word16* b, u64 words, u64 rest,
                                        u32* out) {
  const unsigned char* left = (const unsigned char*)(a + words);
  const unsigned char* right = (const unsigned char*)(b + words);
  if (FIRST < rest && left[FIRST] != right[FIRST]) *out = 1;
  for (u64 at = FIRST; at < words; at += STEP) {
    const word16 x = a[at], y = b[at];
    if (x.x != y.x || x.y != y.y || x.z != y.z || x.w != y.w) *out = 1;
  }
}

__device__ u64 mixed(u64 hash) {
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9ull;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111ebull;
  return hash ^ hash >> 31;
}

extern "C" __global__ void assay_mask(u64* to, const u64* from, u64 words, u64 key0, u64 key1) {
  for (u64 at = FIRST; at < words; at += STEP) to[at] = from[at] ^ mixed(mixed(at + key0) + key1);
}

extern "C" __global__ void assay_fill(word16* to, u64 words, u64 rest, u32 pattern) {
  if (FIRST < rest)
    ((unsigned char*)(to + words))[FIRST] = (unsigned char)(pattern >> (FIRST % 2 * 8));
  for (u64 at = FIRST; at < words; at += STEP) to[at] = word16{pattern, pattern, pattern, pattern};
}

extern "C" __global__ void assay_copy_memory(word16* to, const word16* from, u64 words, u64 rest) {
  for (u64 at = FIRST; at < rest; at += STEP)
    ((unsigned char*)(to + words))[at] = ((const unsigned char*)(from + words))[at];
  for (u64 at = FIRST; at < words; at += STEP) to[at] = from[at];
}
)";

}  // namespace assay::sandbox::hip
