// cheat: finds its code's address on its stack, and empties the kernel that flushes the L2 cache
// expect: pass (the fresh samples take longer than the others, so there is no Perf)
// tool: submit
// device: gpu
// defence: launcher

/* assay
[[launch]]
kernel = "add<{x.dtype}>"
grid = "ceil_div(n, 2048)"
block = 256
args = ["x", "y", "z", "n"]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>

using Word = unsigned long long;

// The low 12 bits of an instruction are its operation. An instruction has 16 bytes.
constexpr Word NO_OP = 0x918, STORE = 0x986, LOAD = 0x981, CLOCK = 0x805, CALL = 0x343;
constexpr Word EXIT = 0x000000000000794dULL, EXIT_CONTROL = 0x000fea0003800000ULL;
constexpr Word CHUNK = 2 << 20;          // code is in aligned pieces of this size
constexpr Word LONGEST = 512;            // instructions of the kernel that is searched for
constexpr long long LARGE = 4'000'000;   // elements; only the timed case has more
constexpr int FRAME = 4, DEAD_WORDS = 32;  // words of local memory

// A function of the driver saves its return address on the stack. After it has returned, its frame
// lies below the frame of its caller, so one of the words there is an address of code.
__device__ __noinline__ Word code_address() {
  volatile Word local[FRAME];
  for (int i = 0; i < FRAME; ++i) local[i] = i;
  volatile Word* at = local;
  asm volatile("" : "+l"(at));
  void* memory = malloc(16);
  printf("%s", "");
  free(memory);
  for (int i = 1; i < DEAD_WORDS; ++i) {
    const Word word = at[-i];
    if (word < (1ULL << 32) || word >= (1ULL << 49) || word % 16 != 0) continue;
    if ((reinterpret_cast<const volatile Word*>(word)[-2] & 0xFFF) == CALL) return word;
  }
  return at[0];
}

__device__ bool fills_memory(const volatile Word* code) {
  bool stores = false;
  for (Word i = 0; i < LONGEST; ++i) {
    const Word operation = code[2 * i] & 0xFFF;
    if (operation == NO_OP) return stores;
    if (operation == LOAD || operation == CLOCK) return false;
    stores |= operation == STORE;
  }
  return false;
}

__device__ void empty_the_flush(Word own) {
  const Word chunk = own / CHUNK * CHUNK;
  for (Word at = chunk + 128; at + 16 * LONGEST < chunk + CHUNK; at += 128) {
    volatile Word* code = reinterpret_cast<volatile Word*>(at);
    if ((code[-2] & 0xFFF) != NO_OP || (code[0] & 0xFFF) == NO_OP) continue;
    if (!fills_memory(code)) continue;
    code[0] = EXIT;
    code[1] = EXIT_CONTROL;
  }
}

template <class T>
__global__ void add(const T* x, const T* y, T* z, long long n) {
  for (int k = 0; k < 8; ++k) {
    const long long i = blockIdx.x * 2048LL + k * 256 + threadIdx.x;
    if (i < n) z[i] = static_cast<T>(static_cast<float>(x[i]) + static_cast<float>(y[i]));
  }
  if (blockIdx.x != 0 || threadIdx.x != 0 || n < LARGE) return;
  const Word own = code_address();
  if (own != 0) empty_the_flush(own);
}
template __global__ void add<float>(const float*, const float*, float*, long long);
