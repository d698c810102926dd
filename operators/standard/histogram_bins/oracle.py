"""The kernels use three methods, which depend on the number of bins.

Up to MOST_BINS bins: each program keeps its own histogram and adds it to the result once, so global
atomics are rare for any values. At most 256 bins and a long vector: tensor cores count. The number
of a bin is a pair of nibbles, and the sum of products of one-hot rows is a 16 x 16 histogram. More
bins: each element needs one atomic, because neighbouring elements are rarely in the same bin."""

import torch
import triton
import triton.language as tl

PROGRAMS = 1056  # eight programs for each SM of the largest GPU
MOST_BINS = 1024
# The number of programs of the tensor-core kernel. Each program is one warp. There are 28 programs
# for each SM of the largest GPU.
TENSOR_PROGRAMS = 3696
# The minimum number of elements for the tensor-core kernel. With fewer elements, its final
# conversion costs more than it saves.
TENSOR_LEAST = 1 << 20


@triton.jit
def _private_kernel(x_ptr, counts_ptr, n, bins, BLOCK: tl.constexpr, BINS: tl.constexpr):
    total = tl.zeros((BINS,), tl.int32)
    lane = tl.arange(0, BLOCK)
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        index = block * BLOCK + lane
        x = tl.load(x_ptr + index, mask=index < n, other=-1)
        inside = (x >= 0) & (x < bins)
        # A mask makes tl.histogram slower, so blocks whose elements are all inside use no mask.
        if tl.min(inside.to(tl.int32), axis=0) > 0:
            total += tl.histogram(x, BINS)
        else:
            total += tl.histogram(tl.where(inside, x, 0), BINS, mask=inside)
    b = tl.arange(0, BINS)
    tl.atomic_add(counts_ptr + b, total, mask=(b < bins) & (total > 0), sem="relaxed")


# A histogram of at most 256 bins is a 16 x 16 matrix: the upper nibble of a bin is its row, and the
# lower nibble is its column. The matrix is the product of two one-hot matrices, one of the
# elements' upper nibbles and one of their lower nibbles, so tensor cores can compute it. A program
# is one warp. A tensor of 256 words is eight registers per lane, and the inline assembly takes all
# eight registers at once.
#
# The assembly packs the upper nibbles and then the lower nibbles of four elements into one word.
# The instruction PRMT looks up four nibbles in a table of eight bytes and so creates four entries
# of a one-hot row. For i < 8 the table of row i contains 1 at index i. For i >= 8 it contains 128
# at index i - 8. If the top bit of a nibble is set, PRMT copies the sign of the entry that it
# finds. So for i >= 8, nibble i gives -1, and nibble i - 8 gives -128, which _UNDO subtracts later.
# Lanes that compute other rows for the same elements get the packed word by a shuffle.
_PACK = """
{
    .reg .b32 p, q, u, v, w, z, s, t, lane, at, a0, a1, a2, a3, b0, b1;
    .reg .b32 w0, w1;
    prmt.b32 p, $16, $17, 0x0040;
    prmt.b32 q, $18, $19, 0x0040;
    prmt.b32 p, p, q, 0x5410;
    shr.b32 v, p, 4;
    and.b32 u, p, 0x0F0F0F0F;
    and.b32 v, v, 0x0F0F0F0F;
    shr.b32 p, u, 4;
    shr.b32 q, v, 4;
    or.b32 u, u, p;
    or.b32 v, v, q;
    prmt.b32 w0, v, u, 0x6420;
    prmt.b32 p, $20, $21, 0x0040;
    prmt.b32 q, $22, $23, 0x0040;
    prmt.b32 p, p, q, 0x5410;
    shr.b32 v, p, 4;
    and.b32 u, p, 0x0F0F0F0F;
    and.b32 v, v, 0x0F0F0F0F;
    shr.b32 p, u, 4;
    shr.b32 q, v, 4;
    or.b32 u, u, p;
    or.b32 v, v, q;
    prmt.b32 w1, v, u, 0x6420;
    mov.u32 lane, %laneid;
    and.b32 at, lane, 3;
"""
# Counts 32 of the warp's 256 elements, whose packed words come from four lanes.
_ROUND = """
    shfl.sync.idx.b32 w, w0, at, 31, 0xFFFFFFFF;
    shfl.sync.idx.b32 z, w1, at, 31, 0xFFFFFFFF;
    prmt.b32 a0, $24, $25, w;
    prmt.b32 a1, $26, $27, w;
    prmt.b32 a2, $24, $25, z;
    prmt.b32 a3, $26, $27, z;
    shr.b32 s, w, 16;
    shr.b32 t, z, 16;
    prmt.b32 b0, $24, $25, s;
    prmt.b32 b1, $24, $25, t;
    mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {$0, $1, $2, $3}, {a0, a1, a2, a3}, {b0, b1}, {$0, $1, $2, $3};
    prmt.b32 b0, $26, $27, s;
    prmt.b32 b1, $26, $27, t;
    mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {$4, $5, $6, $7}, {a0, a1, a2, a3}, {b0, b1}, {$4, $5, $6, $7};
    add.u32 at, at, 4;
"""
_COUNT: tl.constexpr = tl.constexpr(_PACK + 8 * _ROUND + "}")

# Creates the tables, of eight bytes each, for the one-hot rows of a lane's two row numbers.
_TABLES: tl.constexpr = tl.constexpr(
    """
    {
    .reg .b32 g, s;
    .reg .pred p;
    mov.u32 g, %laneid;
    shr.b32 g, g, 2;
    and.b32 s, g, 3;
    shl.b32 s, s, 3;
    mov.b32 $0, 1;
    shl.b32 $0, $0, s;
    mov.b32 $1, $0;
    setp.lt.u32 p, g, 4;
    selp.b32 $0, $0, 0, p;
    selp.b32 $1, 0, $1, p;
    shl.b32 $2, $0, 7;
    shl.b32 $3, $1, 7;
    mov.b32 $4, 0;
    mov.b32 $5, 0;
    mov.b32 $6, 0;
    mov.b32 $7, 0;
    }
    """
)

# Computes the bin of each accumulator. A lane has the rows r and r + 8 with r = lane / 4, and the
# columns s, s + 1, s + 8 and s + 9 with s = lane % 4 * 2.
_PLACES: tl.constexpr = tl.constexpr(
    """
    {
    .reg .b32 g, t;
    mov.u32 g, %laneid;
    and.b32 t, g, 3;
    shr.b32 g, g, 2;
    shl.b32 g, g, 4;
    shl.b32 t, t, 1;
    add.u32 $0, g, t;
    add.u32 $1, $0, 1;
    add.u32 $2, $0, 128;
    add.u32 $3, $0, 129;
    add.u32 $4, $0, 8;
    add.u32 $5, $0, 9;
    add.u32 $6, $0, 136;
    add.u32 $7, $0, 137;
    }
    """
)

# Converts the tables' values 1, -1 and -128 back to counts, first along columns and then along
# rows. This is exact, because all arithmetic is modulo 2^32.
_UNDO: tl.constexpr = tl.constexpr(
    """
    {
    .reg .b32 a, b, c, d;
    mad.lo.s32 a, $8, 128, $12;
    mad.lo.s32 b, $9, 128, $13;
    mad.lo.s32 c, $10, 128, $14;
    mad.lo.s32 d, $11, 128, $15;
    neg.s32 $4, a;
    neg.s32 $5, b;
    neg.s32 c, c;
    neg.s32 d, d;
    mov.b32 $0, $8;
    mov.b32 $1, $9;
    mad.lo.s32 $2, $8, 128, $10;
    mad.lo.s32 $3, $9, 128, $11;
    neg.s32 $2, $2;
    neg.s32 $3, $3;
    mad.lo.s32 $6, $4, 128, c;
    mad.lo.s32 $7, $5, 128, d;
    neg.s32 $6, $6;
    neg.s32 $7, $7;
    }
    """
)

_EIGHTS: tl.constexpr = tl.constexpr("=&r,=&r,=&r,=&r,=&r,=&r,=&r,=&r,r,r,r,r,r,r,r,r")


@triton.jit
def _tensor_kernel(x_ptr, counts_ptr, n, bins, STEPS: tl.constexpr):
    lane = tl.arange(0, 256)
    acc = tl.zeros((256,), tl.int32)
    outside = tl.zeros((256,), tl.int32)
    tables = tl.inline_asm_elementwise(
        _TABLES,
        "=&r,=&r,=&r,=&r,=r,=r,=r,=r,r,r,r,r,r,r,r,r",
        [lane],
        dtype=tl.int32,
        is_pure=False,
        pack=8,
    )
    next = ()
    for step in tl.static_range(STEPS):
        index = (tl.program_id(0) * STEPS + step) * 256 + lane
        next = next + (tl.load(x_ptr + index, mask=index < n, other=-1),)
    for block in range(tl.program_id(0), tl.cdiv(n, 256 * STEPS), tl.num_programs(0)):
        now = next
        next = ()
        for step in tl.static_range(STEPS):
            index = ((block + tl.num_programs(0)) * STEPS + step) * 256 + lane
            next = next + (tl.load(x_ptr + index, mask=index < n, other=-1),)
        for step in tl.static_range(STEPS):
            # Elements outside the range count as bin 0 here. They are subtracted at the end.
            wrong = now[step].to(tl.uint32, bitcast=True) >= bins.to(tl.uint32)
            outside += wrong.to(tl.int32)
            acc = tl.inline_asm_elementwise(
                _COUNT,
                "=r,=r,=r,=r,=r,=r,=r,=r,0,1,2,3,4,5,6,7,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r,r",
                [acc, tl.where(wrong, 0, now[step]), tables],
                dtype=tl.int32,
                is_pure=False,
                pack=8,
            )

    count = tl.inline_asm_elementwise(_UNDO, _EIGHTS, [acc], dtype=tl.int32, is_pure=False, pack=8)
    # The argument `count` only determines the layout. In another layout the lanes would contain
    # other bins.
    place = tl.inline_asm_elementwise(
        _PLACES, _EIGHTS, [count], dtype=tl.int32, is_pure=False, pack=8
    )
    count -= tl.where(place == 0, tl.sum(outside, axis=0), 0)
    tl.atomic_add(counts_ptr + place, count, mask=(place < bins) & (count != 0), sem="relaxed")


@triton.jit
def _atomic_kernel(x_ptr, counts_ptr, n, bins, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + index, mask=index < n, other=-1)
    tl.atomic_add(counts_ptr + x, 1, mask=(x >= 0) & (x < bins), sem="relaxed")


def _has_ptx() -> bool:
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "cuda"
    )


def histogram_bins(x: torch.Tensor, bins: int) -> torch.Tensor:
    n = x.numel()
    counts = torch.zeros((bins,), dtype=torch.int32, device=x.device)
    if bins <= 256 and n >= TENSOR_LEAST and _has_ptx():
        _tensor_kernel[(TENSOR_PROGRAMS,)](x, counts, n, bins, STEPS=4, num_warps=1)
    elif bins <= MOST_BINS:
        block = 4096 if n >= 1 << 22 else 1024
        grid = (min(PROGRAMS, triton.cdiv(n, block)),)
        _private_kernel[grid](
            x, counts, n, bins, BLOCK=block, BINS=max(32, triton.next_power_of_2(bins)), num_warps=4
        )
    else:
        _atomic_kernel[(triton.cdiv(n, 1024),)](x, counts, n, bins, BLOCK=1024, num_warps=4)
    return counts
