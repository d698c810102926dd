// The PTX of a trusted kernel that masks memory: to[i] = from[i] ^ stream(i), in words of 8 bytes.
// Running it again with the same key restores the contents.
//
// New inputs wait in the launcher's device memory while the submission's kernels still run on the
// old inputs, at an address that a kernel can guess. A kernel that reads them there must not be
// able to use them. stream(i) applies splitmix64's finalizer twice, with half of the key added
// before each, so that known words do not reveal the key within its life of milliseconds.
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
