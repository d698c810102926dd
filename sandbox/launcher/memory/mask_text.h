// A kernel of our own that hides contents: to[i] = from[i] ^ stream(i), in words of 8 bytes; a
// second time with the same key it shows them again.
//
// New inputs wait in a launcher's device memory while a submission's kernels still run on the old
// ones, at a place that can be guessed. Whoever reads them there must not understand them.
// stream(i) is splitmix64's finalizer twice, with half of the key added before each: known words do
// not tell the key in the milliseconds that it lives.
#pragma once

namespace assay::sandbox {

inline constexpr const char* kMaskText = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry assay_mask(.param .u64 to, .param .u64 from, .param .u64 words, .param .u64 key0, .param .u64 key1)
{
  .reg .pred over;
  .reg .b32 block, threads, blocks, thread;
  .reg .b64 target, source, count, first, second, at, step, where, word, hash, part, c0, c1;
  ld.param.u64 target, [to];
  ld.param.u64 source, [from];
  ld.param.u64 count, [words];
  ld.param.u64 first, [key0];
  ld.param.u64 second, [key1];
  cvta.to.global.u64 target, target;
  cvta.to.global.u64 source, source;
  mov.u64 c0, 0xbf58476d1ce4e5b9;
  mov.u64 c1, 0x94d049bb133111eb;
  mov.u32 block, %ctaid.x;
  mov.u32 blocks, %nctaid.x;
  mov.u32 threads, %ntid.x;
  mov.u32 thread, %tid.x;
  mul.wide.u32 at, block, threads;
  cvt.u64.u32 step, thread;
  add.u64 at, at, step;
  mul.wide.u32 step, blocks, threads;
NEXT:
  setp.ge.u64 over, at, count;
  @over ret;
  add.u64 hash, at, first;
  shr.u64 part, hash, 30;
  xor.b64 hash, hash, part;
  mul.lo.u64 hash, hash, c0;
  shr.u64 part, hash, 27;
  xor.b64 hash, hash, part;
  mul.lo.u64 hash, hash, c1;
  shr.u64 part, hash, 31;
  xor.b64 hash, hash, part;
  add.u64 hash, hash, second;
  shr.u64 part, hash, 30;
  xor.b64 hash, hash, part;
  mul.lo.u64 hash, hash, c0;
  shr.u64 part, hash, 27;
  xor.b64 hash, hash, part;
  mul.lo.u64 hash, hash, c1;
  shr.u64 part, hash, 31;
  xor.b64 hash, hash, part;
  shl.b64 where, at, 3;
  add.u64 part, source, where;
  ld.global.u64 word, [part];
  xor.b64 word, word, hash;
  add.u64 part, target, where;
  st.global.u64 [part], word;
  add.u64 at, at, step;
  bra NEXT;
}
)";

}  // namespace assay::sandbox
