#include "sandbox/launcher/memory/trusted_ptx.h"

#include <cstdint>

namespace assay::sandbox::ptx {
namespace {

// The number of 32-bit values that each thread of the scrub kernel keeps in registers. With 1,024
// threads, these values and the kernel's other registers fill all registers of a multiprocessor.
constexpr std::uint32_t kRegisters = 56;

}  // namespace

/// Returns the text of the scrub kernel, which overwrites shared memory and registers. Each block
/// allocates and fills as much shared memory as the device allows for one block. Then each thread
/// keeps kRegisters values in registers at once.
std::string scrub_text() {
  std::string text = R"(.version 7.0
.target sm_70
.address_size 64
.extern .shared .align 16 .b8 room[];
.visible .entry assay_scrub(.param .u32 bytes)
.maxntid 1024, 1, 1
{
  .reg .pred done;
  .reg .b32 at, end, address, poison;
  .reg .b32 held<)" + std::to_string(kRegisters) +
                     R"(>;
  ld.param.u32 end, [bytes];
  mov.b32 poison, 0xFFF1FFF1;
  mov.u32 at, %tid.x;
  shl.b32 at, at, 2;
NEXT:
  setp.ge.u32 done, at, end;
  @done bra FILLED;
  mov.u32 address, room;
  add.u32 address, address, at;
  st.volatile.shared.u32 [address], poison;
  add.u32 at, at, 4096;
  bra NEXT;
FILLED:
  bar.sync 0;
  mov.u32 address, room;
)";
  for (std::uint32_t i = 0; i < kRegisters; ++i)
    text += "  ld.volatile.shared.u32 held" + std::to_string(i) + ", [address+" +
            std::to_string(4 * i) + "];\n";
  for (std::uint32_t i = 0; i < kRegisters; ++i)
    text += "  st.volatile.shared.u32 [address+" + std::to_string(4 * i) + "], held" +
            std::to_string(i) + ";\n";
  return text + "  ret;\n}\n";
}

/// A kernel that writes the numbers of cycles and of nanoseconds between two ticks of the timer.
/// The kernel first waits for a tick, because some timers tick only once a microsecond.
const char* const kClockText = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry assay_clock(.param .u64 out, .param .u64 spin)
{
  .reg .pred again;
  .reg .b64 to, wanted, began, now, first, last, passed;
  ld.param.u64 to, [out];
  ld.param.u64 wanted, [spin];
  mov.u64 now, %globaltimer;
EDGE:
  mov.u64 began, %globaltimer;
  setp.eq.u64 again, began, now;
  @again bra EDGE;
  mov.u64 first, %clock64;
SPIN:
  mov.u64 now, %globaltimer;
  sub.u64 passed, now, began;
  setp.lt.u64 again, passed, wanted;
  @again bra SPIN;
  mov.u64 last, %clock64;
  sub.u64 last, last, first;
  cvta.to.global.u64 to, to;
  st.global.u64 [to], last;
  st.global.u64 [to+8], passed;
  ret;
}
)";

/// A kernel that sets *out if the ranges `a` and `b` differ. It compares words of 16 bytes in a
/// grid-wide stride, and then the bytes after the last word one by one.
const char* const kDifferText = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry assay_differ(.param .u64 a, .param .u64 b, .param .u64 words, .param .u64 rest, .param .u64 out)
{
  .reg .pred over, unlike;
  .reg .b16 byte0, byte1;
  .reg .b32 block, threads, blocks, thread, one;
  .reg .b64 left, right, count, tail, to, at, step, where, x0, x1, y0, y1;
  ld.param.u64 left, [a];
  ld.param.u64 right, [b];
  ld.param.u64 count, [words];
  ld.param.u64 tail, [rest];
  ld.param.u64 to, [out];
  cvta.to.global.u64 left, left;
  cvta.to.global.u64 right, right;
  cvta.to.global.u64 to, to;
  mov.u32 one, 1;
  mov.u32 block, %ctaid.x;
  mov.u32 blocks, %nctaid.x;
  mov.u32 threads, %ntid.x;
  mov.u32 thread, %tid.x;
  mul.wide.u32 at, block, threads;
  cvt.u64.u32 step, thread;
  add.u64 at, at, step;
  setp.ge.u64 over, at, tail;
  @over bra WORDS;
  shl.b64 where, count, 4;
  add.u64 where, where, at;
  add.u64 x0, left, where;
  add.u64 y0, right, where;
  ld.global.u8 byte0, [x0];
  ld.global.u8 byte1, [y0];
  setp.ne.u16 unlike, byte0, byte1;
  @unlike st.global.u32 [to], one;
WORDS:
  mul.wide.u32 step, blocks, threads;
NEXT:
  setp.ge.u64 over, at, count;
  @over ret;
  shl.b64 where, at, 4;
  add.u64 x0, left, where;
  add.u64 y0, right, where;
  ld.global.v2.u64 {x0, x1}, [x0];
  ld.global.v2.u64 {y0, y1}, [y0];
  setp.ne.u64 unlike, x0, y0;
  @unlike st.global.u32 [to], one;
  setp.ne.u64 unlike, x1, y1;
  @unlike st.global.u32 [to], one;
  add.u64 at, at, step;
  bra NEXT;
}
)";

/// A kernel in which each thread adds one to its own word. Its work is the minimum for a kernel
/// that reads and writes memory. measurements/ground_truth.py reads this text.
const char* const kTouchText = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry assay_touch(.param .u64 words)
{
  .reg .b32 block, threads, thread, word;
  .reg .b64 at, offset;
  ld.param.u64 at, [words];
  cvta.to.global.u64 at, at;
  mov.u32 block, %ctaid.x;
  mov.u32 threads, %ntid.x;
  mov.u32 thread, %tid.x;
  mad.lo.u32 thread, block, threads, thread;
  mul.wide.u32 offset, thread, 4;
  add.u64 at, at, offset;
  ld.global.u32 word, [at];
  add.u32 word, word, 1;
  st.global.u32 [at], word;
  ret;
}
)";

/// A kernel that masks memory: to[i] = from[i] ^ stream(i), in words of 8 bytes. Masking the result
/// again with the same key restores the contents.
///
/// The launcher keeps new inputs in device memory while the submission's kernels still run on the
/// old inputs. A kernel of the submission can guess the address of the new inputs. So the bytes at
/// that address must be useless to it. stream(i) applies splitmix64's finalizer twice, and adds
/// half of the key before each application, so that known words do not reveal the key. Each key is
/// used for milliseconds only.
const char* const kMaskText = R"(.version 7.0
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

/// A kernel that fills memory with a pattern: `words` words of 16 bytes in a grid-wide stride, and
/// then the `rest` bytes after the last word. The pattern consists of four equal bytes.
const char* const kFillText = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry assay_fill(.param .u64 to, .param .u64 words, .param .u64 rest, .param .u32 pattern)
{
  .reg .pred over;
  .reg .b32 block, threads, blocks, thread, value, shift, byte;
  .reg .b64 target, count, tail, at, step, where;
  ld.param.u64 target, [to];
  ld.param.u64 count, [words];
  ld.param.u64 tail, [rest];
  ld.param.u32 value, [pattern];
  cvta.to.global.u64 target, target;
  mov.u32 block, %ctaid.x;
  mov.u32 blocks, %nctaid.x;
  mov.u32 threads, %ntid.x;
  mov.u32 thread, %tid.x;
  mul.wide.u32 at, block, threads;
  cvt.u64.u32 step, thread;
  add.u64 at, at, step;
  setp.ge.u64 over, at, tail;
  @over bra WORDS;
  shl.b64 where, count, 4;
  add.u64 where, where, at;
  add.u64 where, target, where;
  and.b32 shift, thread, 1;
  shl.b32 shift, shift, 3;
  shr.u32 byte, value, shift;
  st.global.u8 [where], byte;
WORDS:
  mul.wide.u32 step, blocks, threads;
NEXT:
  setp.ge.u64 over, at, count;
  @over ret;
  shl.b64 where, at, 4;
  add.u64 where, target, where;
  st.global.v4.u32 [where], {value, value, value, value};
  add.u64 at, at, step;
  bra NEXT;
}
)";

/// A kernel that copies memory in a grid-wide stride: the `rest` bytes after the last word one by
/// one, and then `words` words of 16 bytes.
const char* const kCopyText = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry assay_copy_memory(.param .u64 to, .param .u64 from, .param .u64 words, .param .u64 rest)
{
  .reg .pred over;
  .reg .b16 byte;
  .reg .b32 block, threads, blocks, thread;
  .reg .b32 w0, w1, w2, w3;
  .reg .b64 target, source, count, tail, at, first, step, where, put;
  ld.param.u64 target, [to];
  ld.param.u64 source, [from];
  ld.param.u64 count, [words];
  ld.param.u64 tail, [rest];
  cvta.to.global.u64 target, target;
  cvta.to.global.u64 source, source;
  mov.u32 block, %ctaid.x;
  mov.u32 blocks, %nctaid.x;
  mov.u32 threads, %ntid.x;
  mov.u32 thread, %tid.x;
  mul.wide.u32 at, block, threads;
  cvt.u64.u32 step, thread;
  add.u64 at, at, step;
  mul.wide.u32 step, blocks, threads;
  mov.u64 first, at;
NEXT_BYTE:
  setp.ge.u64 over, at, tail;
  @over bra WORDS;
  shl.b64 where, count, 4;
  add.u64 where, where, at;
  add.u64 put, target, where;
  add.u64 where, source, where;
  ld.global.u8 byte, [where];
  st.global.u8 [put], byte;
  add.u64 at, at, step;
  bra NEXT_BYTE;
WORDS:
  mov.u64 at, first;
NEXT:
  setp.ge.u64 over, at, count;
  @over ret;
  shl.b64 where, at, 4;
  add.u64 put, target, where;
  add.u64 where, source, where;
  ld.global.v4.u32 {w0, w1, w2, w3}, [where];
  st.global.v4.u32 [put], {w0, w1, w2, w3};
  add.u64 at, at, step;
  bra NEXT;
}
)";

}  // namespace assay::sandbox::ptx
