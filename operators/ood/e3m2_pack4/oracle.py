"""The kernel computes e3m2 codes by integer arithmetic on the bits of a float, and stores whole
words.

A row consists of whole groups of four values, so the matrix is one stream of groups, whatever the
row length is. Each lane packs 16 neighbouring values into 12 bytes, which are three aligned 32-bit
words. At most three groups are left over at the end; they are stored byte by byte."""

import torch
import triton
import triton.language as tl

# The value is 1.5 * 2^23. A float32 of this size has no fraction bits. So adding the value to a
# small float and subtracting it again rounds the float to an integer, ties to even.
ROUND_MAGIC: tl.constexpr = tl.constexpr(12582912.0)


@triton.jit
def _codes(x):
    bits = x.to(tl.int32, bitcast=True)
    size = tl.minimum(tl.abs(x), 28.0)
    # Rounds normal numbers to two mantissa bits with integer arithmetic, where a carry increments
    # the exponent. Then changes the exponent bias from 127 to 3.
    size_bits = size.to(tl.int32, bitcast=True)
    normal = ((size_bits + 0xFFFFF + ((size_bits >> 21) & 1)) >> 21) - (124 << 2)
    # A subnormal code is the value in units of 1/16. A value that rounds to 4 units gets code 4,
    # which is the code of the smallest normal number, 1/4.
    subnormal = ((size * 16.0 + ROUND_MAGIC) - ROUND_MAGIC).to(tl.int32)
    return tl.where(size < 0.25, subnormal, normal) | ((bits >> 26) & 32)


@triton.jit
def _words_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    items = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    at = items[:, None] * 16 + tl.arange(0, 16)[None, :]
    x = tl.load(x_ptr + at, mask=(items < n)[:, None], other=0.0)
    codes = tl.reshape(_codes(x), (BLOCK, 4, 4)) << (tl.arange(0, 4) * 6)[None, None, :]
    groups = tl.reshape(tl.sum(codes, axis=2), (BLOCK, 2, 2))
    even, odd = tl.split(groups)
    g0, g2 = tl.split(even)
    g1, g3 = tl.split(odd)
    mask = items < n
    tl.store(out_ptr + items * 3, g0 | (g1 << 24), mask=mask)
    tl.store(out_ptr + items * 3 + 1, (g1 >> 8) | (g2 << 16), mask=mask)
    tl.store(out_ptr + items * 3 + 2, (g2 >> 16) | (g3 << 8), mask=mask)


@triton.jit
def _bytes_kernel(x_ptr, out_ptr, first, n, BLOCK: tl.constexpr):
    groups = first + tl.arange(0, BLOCK).to(tl.int64)
    at = groups[:, None] * 4 + tl.arange(0, 4)[None, :]
    x = tl.load(x_ptr + at, mask=(groups < n)[:, None], other=0.0)
    word = tl.sum(_codes(x) << (tl.arange(0, 4) * 6)[None, :], axis=1)
    tl.store(out_ptr + groups * 3, (word & 255).to(tl.uint8), mask=groups < n)
    tl.store(out_ptr + groups * 3 + 1, ((word >> 8) & 255).to(tl.uint8), mask=groups < n)
    tl.store(out_ptr + groups * 3 + 2, ((word >> 16) & 255).to(tl.uint8), mask=groups < n)


def e3m2_pack4(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    groups = rows * (cols // 4)
    whole = groups // 4
    words = torch.empty((triton.cdiv(3 * groups, 4),), dtype=torch.int32, device=x.device)
    out = words.view(torch.uint8)[: 3 * groups]
    if whole > 0:
        _words_kernel[(triton.cdiv(whole, 256),)](x, words, whole, BLOCK=256, num_warps=8)
    if groups % 4 > 0:
        _bytes_kernel[(1,)](x, out, whole * 4, groups, BLOCK=4, num_warps=1)
    return out.view(rows, cols // 4 * 3)
